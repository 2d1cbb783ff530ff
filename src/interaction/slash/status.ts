import { packageVersion } from "../../platform/package.ts";
import { costText, dollars } from "../../runtime/cost-text.ts";
import type { SlashCommand } from "./command.ts";

export const statusCommand: SlashCommand = {
  name: "status",
  type: "local",
  describe: "This session at a glance: model, mode, folder, window, cost, servers, who works",
  anyTime: true,
  async run(_argument, { session, print }) {
    const { cwd, repository, flags } = session.surroundings;
    const { name } = session.session;
    const report = session.agent.report();
    const cap = flags.maxCost === undefined ? "" : `, of ${dollars(flags.maxCost)} at most`;
    const servers = session.mcp?.status() ?? [];
    const { running } = session.subagents;
    const teams = running.filter(({ type }) => type === "team");
    const helpers = running.filter(({ type }) => type !== "team");
    const rows: (readonly [string, string])[] = [
      ["RooCode", packageVersion()],
      ["Session", `${session.id}${name === undefined ? "" : ` "${name}"`}, ${counted(session.agent.turns, "turn")}`],
      ["Model", session.model()],
      ["Mode", session.mode()],
      ["Folder", `${cwd}${repository ? `, branch ${repository.branch ?? "(detached HEAD)"}` : ""}`],
      ...(report ? ([["Window", `about ${report.used} of ${report.window} tokens`]] as const) : []),
      ["Cost", `${costText(session.spending)}${cap}`],
      ["Servers", servers.map(({ name: server, status }) => `${server} ${status}`).join(", ") || "none"],
      ["Agents", helpers.map(({ id, type, description }) => `${id} (${type}): ${description}`).join("; ") || "none in the background"],
      ["Team", teams.map(({ name: team = "", description }) => `${team}: ${description}`).join("; ") || "none of this session"],
    ];
    print(rows.map(([title, text]) => `${title.padEnd(9)}${text}`).join("\n"));
    return undefined;
  },
};

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
