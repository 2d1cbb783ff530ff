import { join } from "node:path";
import type { ProcessIdentity } from "../../../../src/protocol/team.ts";
import { createFileTeam, type FileBus, type FileBusOptions, openFileBus } from "../../../../src/team/bus/file/open.ts";
import { tempFolder } from "../../../support/temp.ts";
import { sampleTeam } from "../sample-team.ts";

/** A team on files in a folder of the test's own; every bus it opened is closed at the end. */
export async function fileTeam(...names: string[]) {
  const folder = await tempFolder("roocode-team");
  const teamFolder = join(folder.path, "auth");
  const clock = { now: Date.now() };
  const buses: FileBus[] = [];
  await createFileTeam(teamFolder, sampleTeam(...names));
  return {
    teamFolder,
    clock,
    inbox: (name: string, part: string, file = "") => join(teamFolder, "inboxes", name, part, file),
    async open(name: string, epoch = 1, process?: ProcessIdentity, more: Partial<FileBusOptions> = {}) {
      const bus = await openFileBus({
        teamFolder,
        self: { name, epoch },
        clock: () => clock.now,
        sweepMs: 50,
        ...(process ? { process } : {}),
        ...more,
      });
      buses.push(bus);
      return bus;
    },
    async [Symbol.asyncDispose]() {
      for (const bus of buses) await bus[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}
