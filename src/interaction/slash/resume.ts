import { join } from "node:path";
import { UserError } from "../../protocol/errors.ts";
import type { SlashCommand } from "./command.ts";

export const resumeCommand: SlashCommand = {
  name: "resume",
  type: "local",
  argument: "[number|id|words]",
  describe: "Go on with an earlier conversation of this project",
  async run(argument, { session, print, pick }) {
    const { surroundings } = session;
    const folder = surroundings.data.sessions(surroundings.projectRoot);
    const [{ sessionItems, sessionNamed, CHOOSE_SESSION }, { sessionOwner }] = await Promise.all([
      import("../choose-session.ts"),
      import("../../memory/session-lock.ts"),
    ]);
    const items = argument === "" ? sessionItems(folder, session.id) : [];
    if (argument === "" && items.length === 0) print("There is no other conversation of this project yet.");
    const id = argument === "" ? items.length > 0 && (await pick(CHOOSE_SESSION, items)) : sessionNamed(folder, argument, session.id);
    if (!id) return undefined;
    if (id === session.id) throw new UserError("That is this conversation.");
    // Asked now: once this one is left there is no way back but by its id.
    const owner = sessionOwner(join(folder, `${id}.jsonl`));
    if (owner) throw new UserError(`The conversation ${id} is open in another process (pid ${owner.pid}).`);
    return { open: id };
  },
};
