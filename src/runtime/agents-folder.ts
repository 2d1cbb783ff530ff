/** Sessions of sub-agents lie below that of the conversation that started them. */
export function agentsFolder(sessionPath: string): string {
  return sessionPath.replace(/\.jsonl$/, ".agents");
}
