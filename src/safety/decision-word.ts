export function decisionWord({ decision, sticky }: { decision: string; sticky?: boolean | undefined }): string {
  return sticky && decision === "ask" ? "sticky ask" : decision;
}
