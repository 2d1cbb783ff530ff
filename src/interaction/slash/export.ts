import { resolve } from "node:path";
import { UserError } from "../../protocol/errors.ts";
import type { SlashCommand } from "./command.ts";

export const exportCommand: SlashCommand = {
  name: "export",
  type: "local",
  argument: "[md|html] [file]",
  describe: "Write this conversation to a file",
  anyTime: true,
  async run(argument, { session, print }) {
    const [, given, file] = /^(?:(md|html)(?:\s+|$))?([\s\S]*)$/.exec(argument) ?? [];
    const format = given === "html" || (given === undefined && /\.html?$/i.test(file ?? "")) ? "html" : "md";
    const name = file?.trim() || `roocode-${session.id.slice(0, 8)}.${format}`;
    if (session.agent.history.length === 0) throw new UserError("There is nothing to write yet.");
    const { exportPieces, writePieces } = await import("../session-page.ts");
    const target = resolve(session.surroundings.cwd, name);
    writePieces(target, await exportPieces(session.session.path, format), "/export md FILE takes another one");
    print(`Written to ${target}.`);
    return undefined;
  },
};
