// Bundled and run by bench.mjs: prints {p50, p99} of decide() in milliseconds.
import { readFileSync } from "node:fs";
import { decide } from "../src/safety/decide.ts";
import { gitConfigReader } from "../src/safety/git-config.ts";
import { DISK } from "../src/safety/path-sandbox.ts";
import { ruleSet } from "../src/safety/rules.ts";

const WARM_UP = 3;
const ROUNDS = 20;
const commands = readFileSync("test/fixtures/security/dangerous.jsonl", "utf8")
  .trim()
  .split("\n")
  .map((line): string => JSON.parse(line).cmd)
  .filter((command) => Buffer.byteLength(command) < 2_000);
const rules = ruleSet({
  user: Array.from({ length: 34 }, (_, index) => `allow Bash(tool${index} *)`),
  project: ["deny Read(**/*.pem)", "deny Edit(secrets/**)"],
  local: ["allow Bash(npm run *)", "deny Bash(npm publish *)", "ask Bash(git push *)", "allow Bash(git *)"],
});
const root = process.cwd();
const ground = { root, cwd: root, home: "/home/dev", dataFolder: "/home/dev/.roocode", extraRoots: [], files: DISK };
const gitIsSafe = gitConfigReader();
const times: number[] = [];
for (let round = 0; round < WARM_UP + ROUNDS; round++)
  for (const subject of commands) {
    const started = performance.now();
    await decide(
      { agent: "bench", tool: "Bash", access: { kind: "command", subject } },
      { ground, mode: "default", rules, isTrusted: true, gitIsSafe },
    );
    if (round >= WARM_UP) times.push(performance.now() - started);
  }
times.sort((one, other) => one - other);
const at = (share: number) => times[Math.floor(times.length * share)];
console.log(JSON.stringify({ p50: at(0.5), p99: at(0.99) }));
