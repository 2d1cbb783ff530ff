// A process of a test whose files may only grow to a limit: node --import tsx fill-session.ts PATH COUNT [mend]
import { execFileSync } from "node:child_process";
import { createSession } from "../../src/memory/session-file.ts";
import { answer, header } from "./session-entries.ts";

const [path = "", count = "0", mend] = process.argv.slice(2);
const said: string[] = [];
const session = createSession(path, header, (text) => said.push(text));
for (let index = 0; index < Number(count); index += 1) await session.append(answer(`${index} ${"x".repeat(1000)}`));
if (mend) {
  execFileSync("prlimit", ["--pid", String(process.pid), "--fsize=unlimited"]);
  await session.append(answer("There is room again."));
}
const { unsaved } = session;
session.close();
process.stdout.write(JSON.stringify({ unsaved, said }));
