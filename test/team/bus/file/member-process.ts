import { createInterface } from "node:readline";
import { selfIdentity } from "../../../../src/platform/process.ts";
import { resultText } from "../../../../src/protocol/tool.ts";
import { openFileBus } from "../../../../src/team/bus/file/open.ts";
import { taskUpdateTool } from "../../../../src/team/tools/task-update.ts";

// A member as a process of its own. `send`: so many messages to `to`, each id printed once send has returned.
// `claim`: for each task id on stdin one try to take it; prints whether it was won.
const [action = "", teamFolder = "", name = "", to = "", count = "0"] = process.argv.slice(2);
await using bus = await openFileBus({ teamFolder, self: { name, epoch: 1 } });

if (action === "send") {
  for (let number = 1; number <= Number(count); number++) {
    const id = await bus.mailbox.send(to, { type: "message", summary: "a number", text: `${name} ${number} ${"x".repeat(300)}` });
    process.stdout.write(`${id}\n`);
  }
}

if (action === "claim") {
  const tool = taskUpdateTool({ tasks: bus.tasks, self: name, role: "teammate", process: selfIdentity(), team: bus });
  const context = { cwd: "/", callId: "1", signal: new AbortController().signal, progress: () => undefined };
  process.stdout.write("ready\n");
  for await (const taskId of createInterface({ input: process.stdin })) {
    const result = await tool.run(tool.parse({ taskId, owner: name, status: "in_progress" }), context);
    process.stdout.write(`${result.isError ? resultText(result) : "won"}\n`);
  }
}
