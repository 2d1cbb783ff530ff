import { join } from "node:path";
import { UserError } from "../../protocol/errors.ts";
import type { SlashCommand } from "./command.ts";

const SHOWN = 15;

export const resumeCommand: SlashCommand = {
  name: "resume",
  type: "local",
  argument: "[id]",
  describe: "Earlier conversations of this project; go on with one of them",
  async run(argument, { session, print }) {
    const { surroundings } = session;
    const folder = surroundings.data.sessions(surroundings.projectRoot);
    if (argument === "") {
      const [{ listSessions }, { summaryLine }] = await Promise.all([
        import("../../memory/session-list.ts"),
        import("../session-summary.ts"),
      ]);
      const others = listSessions(folder).filter(({ id }) => id !== session.id);
      print(
        others.length === 0 ? "There is no other conversation of this project yet." : others.slice(0, SHOWN).map(summaryLine).join("\n"),
      );
      if (others.length > 0) print(`${others.length > SHOWN ? `… and ${others.length - SHOWN} more. ` : ""}/resume ID goes on with one.`);
      return undefined;
    }
    const [{ findSession }, { sessionOwner }] = await Promise.all([
      import("../../memory/find-session.ts"),
      import("../../memory/session-lock.ts"),
    ]);
    const id = findSession(folder, argument);
    if (id === session.id) throw new UserError("That is this conversation.");
    // Asked now: once this one is left there is no way back but by its id.
    const owner = sessionOwner(join(folder, `${id}.jsonl`));
    if (owner) throw new UserError(`The conversation ${id} is open in another process (pid ${owner.pid}).`);
    return { open: id };
  },
};
