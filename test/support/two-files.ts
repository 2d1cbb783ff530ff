import type { PlanInput } from "../../src/interaction/demo/plan.ts";

/** alice and bob write a file each. */
export const TWO_FILES: PlanInput = {
  teammates: [
    { name: "alice", prompt: "You are alice." },
    { name: "bob", prompt: "You are bob." },
  ],
  tasks: [
    { key: "a", subject: "Write a", teammate: "alice", edits: [{ file: "a.txt", content: "from alice\n" }] },
    { key: "b", subject: "Write b", teammate: "bob", edits: [{ file: "b.txt", content: "from bob\n" }] },
  ],
};
