import type { Spent } from "../protocol/model.ts";
import type { TeamConfig, TeamTask } from "../protocol/team.ts";
import type { ConvergeReport } from "../team/converge/report.ts";
import type { LeadEnd } from "../team/lead.ts";

export type TeamOutcome = {
  team: string;
  exitCode: number;
  /** The lead's last words. */
  words: string;
  /** What the system measured: merged, unmerged, check, branch, how to go on. */
  text: string;
  merged: string[];
  unmerged: { name: string; branch: string; reason: string }[];
  landed?: { branch: string; from: string; to: string };
  tasks: TeamTask[];
  /** By all agents of the team, in all its runs. */
  spent: Spent;
  /** Where the team's record lies now. */
  folder: string;
};

/** What a team's end comes to: exit code, who is merged, and in words how to go on. */
export function describeEnd(ended: LeadEnd, team: TeamConfig, tasks: TeamTask[]): Omit<TeamOutcome, "spent" | "folder"> {
  const words = "text" in ended ? ended.text : "";
  const base = { words, team: team.name, tasks, merged: [] as string[], unmerged: [] as TeamOutcome["unmerged"] };
  const goOn = (flags = "") => `Go on with: roocode team resume ${team.name}${flags}. Tidy away with: roocode team clean ${team.name}.`;
  const resume = goOn();
  const left = (reason: string) => team.members.map(({ name, branch }) => ({ name, branch, reason }));
  switch (ended.type) {
    case "interrupted":
      return {
        ...base,
        exitCode: 130,
        unmerged: left("interrupted"),
        text: `Interrupted. All work is saved on the members' branches. ${resume}`,
      };
    case "over_budget": {
      const { report } = ended;
      const saved = team.members.length > 0 ? " All work is saved on the members' branches." : "";
      const lines = [`${ended.sentence}${saved}`, report?.text ?? "", goOn(` --max-cost ${2 * (team.maxCost ?? 0)}`)];
      return {
        ...base,
        exitCode: 1,
        ...(report ? landedFacts(report) : { unmerged: left("the team's cap was reached") }),
        text: lines.filter((line) => line !== "").join("\n"),
      };
    }
    case "failed": {
      const kind = ended.end.error?.kind;
      const exitCode = kind === undefined || kind === "invalid_request" || kind === "context_length" ? 1 : 5;
      return {
        ...base,
        exitCode,
        unmerged: left("the lead's model failed"),
        text: `${ended.end.error?.message ?? "The lead failed."}${team.members.length > 0 ? ` ${resume}` : ""}`,
      };
    }
    case "nothing_to_merge":
      return {
        ...base,
        // The system's, and told as such.
        words: "",
        exitCode: ended.allCompleted ? 0 : 1,
        unmerged: team.merge === false ? left("--no-merge") : [],
        text: ended.text,
      };
    case "converged": {
      const { report } = ended;
      const open = tasks.filter((task) => task.status !== "completed" && task.status !== "cancelled");
      const exitCode = report.exitCode === 0 && open.length > 0 ? 3 : report.exitCode;
      const lines = [report.text];
      if (open.length > 0) lines.push(`Not completed: ${open.map((task) => `${task.id} ${task.subject} (${task.status})`).join("; ")}.`);
      if (exitCode !== 0) lines.push(resume);
      if (report.unmerged.length > 0)
        lines.push(`Drop what is not merged (rescue refs keep it for 30 days): roocode team clean --force ${team.name}`);
      return {
        ...base,
        exitCode,
        ...landedFacts(report),
        text: lines.filter((line) => line !== "").join("\n"),
      };
    }
  }
}

function landedFacts({ merged, unmerged, landed }: ConvergeReport): Pick<TeamOutcome, "merged" | "unmerged" | "landed"> {
  return {
    merged: merged.map((one) => one.name),
    unmerged: unmerged.map(({ name, branch, reason }) => ({ name, branch, reason })),
    ...(landed ? { landed } : {}),
  };
}
