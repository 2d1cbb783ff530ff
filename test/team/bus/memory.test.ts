import { createMemoryTeam } from "../../../src/team/bus/memory.ts";
import { busContract } from "./contract.ts";
import { sampleTeam } from "./sample-team.ts";

busContract("memory", async () => {
  const clock = { now: Date.now() };
  const team = createMemoryTeam(sampleTeam("alice", "bob"), { clock: () => clock.now });
  return {
    clock,
    open: async (name, epoch = 1, process) => team.open({ name, epoch }, process),
    async [Symbol.asyncDispose]() {},
  };
});
