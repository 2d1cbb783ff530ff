import { expect, test } from "vitest";
import { type NotifyKind, notification } from "../../../src/interaction/tui/notify.ts";

test.each<[NotifyKind, NodeJS.ProcessEnv, string]>([
  ["off", {}, ""],
  ["bell", {}, "\x07"],
  ["osc9", {}, "\x1b]9;alice asks  Bash ]0 x\x07"],
  ["osc777", {}, "\x1b]777;notify;RooCode;alice asks  Bash ]0 x\x07"],
  ["auto", { TERM_PROGRAM: "WezTerm" }, "\x1b]9;alice asks  Bash ]0 x\x07"],
  ["auto", { TERM_PROGRAM: "WezTerm", TMUX: "/tmp/x" }, "\x07"],
  ["auto", { TERM: "foot" }, "\x1b]777;notify;RooCode;alice asks  Bash ]0 x\x07"],
  ["auto", { TERM: "xterm-256color" }, "\x07"],
])("%s with %j; words of others can't end the sequence", (kind, env, bytes) => {
  expect(notification(kind, "alice asks; Bash\x1b]0;x", env)).toBe(bytes);
});
