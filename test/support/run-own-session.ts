// Runs in a terminal of a test: node --import tsx run-own-session.ts OPTIONS_FILE RESULT_FILE
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import * as z from "zod";
import { openInOwnSession } from "../../src/team/backends/tmux-session.ts";

const OptionsSchema = z.object({
  sessionName: z.string(),
  argv: z.array(z.string()),
  cwd: z.string(),
  env: z.record(z.string(), z.string()),
  handoverFolder: z.string(),
  socketArgs: z.array(z.string()),
});

const [optionsFile = "", resultFile = ""] = process.argv.slice(2);
const said: string[] = [];
const options = OptionsSchema.parse(JSON.parse(readFileSync(optionsFile, "utf8")));
const code = await openInOwnSession({ ...options, say: (text) => void said.push(text) }).catch(String);
writeFileSync(`${resultFile}.tmp`, JSON.stringify({ code, said }));
renameSync(`${resultFile}.tmp`, resultFile);
