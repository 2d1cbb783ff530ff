import type { SlashCommand } from "./command.ts";

const LAST_CHARACTERS = 600;
const LAST_LINES = 5;

export const jobsCommand: SlashCommand = {
  name: "jobs",
  type: "local",
  argument: "[stop job-N]",
  describe: "Commands in the background and their last output",
  anyTime: true,
  async run(argument, { session, print }) {
    const [, verb = "", id = ""] = /^(\S*)\s*(\S*)$/.exec(argument) ?? [];
    const { jobs } = session;
    if (verb === "stop") {
      const isStopped = await jobs.stopJob(id);
      print(isStopped ? `Stopped ${id} with all that it had started.` : `No job ${id || "without a name"} runs.`);
      return undefined;
    }
    if (argument !== "") print("Use /jobs or /jobs stop job-N.");
    const lines = [...jobs.jobs.values()].flatMap((job) => {
      const tail = job.lastText(LAST_CHARACTERS).trimEnd().split("\n").slice(-LAST_LINES);
      return [
        `${job.id}: ${job.state}: ${job.command.split("\n", 1)[0]}`,
        ...tail.filter((line) => line !== "").map((line) => `    ${line}`),
      ];
    });
    print(lines.length === 0 ? "Nothing was sent to the background." : lines.join("\n"));
    return undefined;
  },
};
