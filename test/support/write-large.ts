import { readFileTool } from "../../src/tools/builtin/read-file.ts";
import { writeFileTool } from "../../src/tools/builtin/write-file.ts";
import { FileState } from "../../src/tools/file-state.ts";

// Started as a process of its own, to be killed while it writes.
const [path = ""] = process.argv.slice(2);
const context = { cwd: "/", callId: "c", signal: new AbortController().signal, progress: () => undefined };
const state = new FileState();
const [read, write] = [readFileTool(state), writeFileTool(state)];
await read.run(read.parse({ path }), context);
process.stdout.write("begins\n");
await write.run(write.parse({ path, content: "n".repeat(40_000_000) }), context);
