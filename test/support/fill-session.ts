// A process of a test, with a limit on the size of its files: node --import tsx fill-session.ts PATH COUNT
import { createSession } from "../../src/memory/session-file.ts";
import { answer, header } from "./session-entries.ts";

const [path = "", count = "0"] = process.argv.slice(2);
const said: string[] = [];
const session = createSession(path, header, (text) => said.push(text));
for (let index = 0; index < Number(count); index += 1) await session.append(answer(`${index} ${"x".repeat(1000)}`));
const { unsaved } = session;
session.close();
process.stdout.write(JSON.stringify({ unsaved, said }));
