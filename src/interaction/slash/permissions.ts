import { decisionLine } from "../decision-text.ts";
import type { SlashCommand } from "./command.ts";

const SHOWN = 10;

export const permissionsCommand: SlashCommand = {
  name: "permissions",
  type: "local",
  argument: "[last|N]",
  describe: "Decisions of this session; one of them explained (N counts back from the last)",
  anyTime: true,
  async run(argument, { session, print }) {
    const [{ explainDecision }, { readAudit }] = await Promise.all([
      import("../../runtime/explain-decision.ts"),
      import("../../safety/audit-log.ts"),
    ]);
    const { surroundings } = session;
    const decisions = await readAudit(surroundings.data.audit, { session: session.id });
    const back = argument === "last" ? 1 : Number(argument);
    if (argument === "") {
      const shown = decisions.slice(-SHOWN).map((entry, index, all) => `${String(all.length - index).padStart(3)}  ${decisionLine(entry)}`);
      print(shown.length === 0 ? "Nothing was decided yet." : [...shown, "/permissions N explains one of them."].join("\n"));
    } else if (!Number.isInteger(back) || back < 1)
      print(`"${argument}" is no number of a decision: /permissions last, or /permissions 3.`);
    else {
      const entry = decisions.at(-back);
      print(entry ? await explainDecision(entry, surroundings) : `Decisions in this session: ${decisions.length}.`);
    }
    return undefined;
  },
};
