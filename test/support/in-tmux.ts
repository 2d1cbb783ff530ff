import { describe, test } from "vitest";
import { runCommand } from "../../src/platform/process.ts";

/** On a person's machine without tmux its tests are left out, and not counted; CI brings one, so there they would fail. */
const isLeftOut = !process.env.CI && (await runCommand("tmux", ["-V"])).missing;

export const tmuxTest = test.skipIf(isLeftOut);
export const tmuxDescribe = describe.skipIf(isLeftOut);
