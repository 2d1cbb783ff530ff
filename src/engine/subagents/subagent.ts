export type SubagentInfo = {
  id: string;
  /** As the one who started it calls it. */
  name?: string | undefined;
  /** Name of its definition, or "fork". */
  type: string;
  description: string;
  /** A team, which ends for good. */
  isTeam?: true;
};
export type SubagentEnd = {
  status: "completed" | "failed" | "stopped";
  /** The last words of its model. */
  text: string;
  /** What the system adds: where its work lies, why it stopped. */
  notes: readonly string[];
  turns: number;
};
/** What a sub-agent is given for one run. */
export type SubagentRun = { signal: AbortSignal; takeMessages: () => string | undefined };

export type Subagent = SubagentInfo & {
  /** Undefined while it runs. */
  end?: SubagentEnd | undefined;
  startedAt: string;
  isBackground: boolean;
};
