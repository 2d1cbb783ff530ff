import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { HumanAnswer, PermissionMode } from "../../src/protocol/permission.ts";
import { auditFile } from "../../src/safety/audit.ts";
import { createAuthorize } from "../../src/safety/authorize.ts";
import { join as joinVotes, type LayerVote, rank } from "../../src/safety/layer-votes.ts";
import { escapeStars, matchesStar, unescapeStars } from "../../src/safety/patterns.ts";
import { addLocalRules, ruleReader } from "../../src/safety/rule-files.ts";
import { accessIn } from "../support/access.ts";
import { tempFolder } from "../support/temp.ts";

const run = promisify(execFile);
const never = new AbortController().signal;

async function project(
  answers: HumanAnswer[] = [],
  options: { mode?: PermissionMode; granted?: string[]; isHeadless?: boolean; contains?: (command: string) => boolean } = {},
) {
  const temp = await tempFolder("authorize");
  const root = join(temp.path, "proj");
  const home = join(temp.path, "home");
  await mkdir(root);
  await mkdir(home);
  await run("git", ["init", "-q", root]);
  const files = {
    user: join(home, ".roocode", "config.yaml"),
    project: join(root, ".roocode", "config.yaml"),
    local: join(root, ".roocode", "config.local.yaml"),
  };
  const asked: string[] = [];
  const authorize = createAuthorize({
    context: {
      root,
      cwd: root,
      home,
      dataFolder: join(home, ".roocode"),
      extraRoots: [],
      mode: () => options.mode ?? "default",
      rules: ruleReader(files),
      isTrusted: true,
      ...(options.granted ? { granted: options.granted } : {}),
      ...(options.isHeadless ? { isHeadless: true } : {}),
      contains: options.contains && (async (command) => options.contains?.(command) ?? false),
    },
    askHuman: async (_, decision) => {
      asked.push(decision.reason);
      return answers.shift();
    },
    record: auditFile(join(temp.path, "audit.jsonl")),
    writeAlways: (rules) => addLocalRules(files.local, rules),
  });
  const bash = (command: string) => authorize({ agent: "alice", tool: "Bash", access: accessIn("Bash", { command }) }, never);
  return {
    root,
    files,
    asked,
    bash,
    authorize,
    audit: join(temp.path, "audit.jsonl"),
    [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose](),
  };
}

test("what a person allows for good is one exact rule in the local settings, and is not asked again", async () => {
  await using place = await project(["always"]);
  expect(await place.bash("npm test")).toMatchObject({ decision: "allow", layer: "human" });
  expect(await readFile(place.files.local, "utf8")).toBe("permissions:\n  allow:\n    - Bash(npm test)\n");
  expect(await place.bash("npm test")).toMatchObject({ decision: "allow", layer: "rule", rule: "Bash(npm test)" });
  expect(await place.bash("npm test -- --run")).toMatchObject({ decision: "deny" });
  expect(place.asked).toHaveLength(2);
});

test("the local settings stay out of git", async () => {
  await using place = await project(["always"]);
  await place.bash("npm test");
  expect((await run("git", ["-C", place.root, "status", "--porcelain", "--untracked-files=all"])).stdout).toBe("");
});

test("a sticky ask is remembered only as the whole command", async () => {
  await using place = await project(["always"], { mode: "bypassPermissions" });
  expect(await place.bash("git push --force origin main")).toMatchObject({ decision: "allow", layer: "human", sticky: true });
  expect(await place.bash("git push --force origin main")).toMatchObject({ decision: "allow", layer: "rule" });
  expect(await place.bash("git push --force origin dev")).toMatchObject({ decision: "deny" });
});

test("what a hook denies or wants asked holds against every mode and rule; what it allows only where the mode alone would ask", async () => {
  await using place = await project(["yes"], { mode: "bypassPermissions", granted: ["Bash(npm test)"] });
  const call = (command: string, decision: "allow" | "deny" | "ask", from = place) =>
    from.authorize({ agent: "alice", tool: "Bash", access: accessIn("Bash", { command }), hook: { decision, reason: "a hook" } }, never);
  expect(await call("npm test", "deny")).toMatchObject({ decision: "deny", layer: "hook", reason: "a hook" });
  expect(await call("npm test", "ask")).toMatchObject({ decision: "allow", layer: "human", sticky: true });
  expect(place.asked).toEqual(["a hook"]);
  await using asking = await project();
  expect(await call("npm run x", "allow", asking)).toMatchObject({ decision: "allow", layer: "hook" });
  expect(await call("git push --force origin main", "allow", asking)).toMatchObject({ decision: "deny" });
  expect(asking.asked).toHaveLength(1);
});

test("without a person every ask is a denial at once that names the rule", async () => {
  await using place = await project(["yes"], { isHeadless: true });
  const decision = await place.bash("npm test");
  expect(decision).toMatchObject({ decision: "deny", layer: "mode" });
  expect(decision.reason).toContain('"Bash(npm test)"');
  expect(place.asked).toEqual([]);
});

test("no answer is a denial, and no is said to be the person's word", async () => {
  await using place = await project(["no"]);
  expect(await place.bash("npm test")).toMatchObject({ decision: "deny", layer: "human", reason: "User denied this operation" });
  expect(await place.bash("npm test")).toMatchObject({ decision: "deny", layer: "mode" });
});

test("rules granted by the system hold, and a person's deny beats them", async () => {
  await using place = await project([], { granted: ["Bash(git merge --no-ff worktree-team-x+alice)", "Bash(git add *)"] });
  expect(await place.bash("git merge --no-ff worktree-team-x+alice")).toMatchObject({ decision: "allow", layer: "rule" });
  expect(await place.bash("git merge --no-ff other")).toMatchObject({ decision: "deny" });
  await mkdir(join(place.root, ".roocode"));
  await writeFile(place.files.local, "permissions:\n  deny: ['Bash(git add *)']\n");
  expect(await place.bash("git add a.ts")).toMatchObject({ decision: "deny", layer: "rule" });
});

test("tools of kind other run in every mode until a rule takes them away", async () => {
  await using place = await project();
  const request = { agent: "alice", tool: "TaskCreate", access: accessIn("TaskCreate", {}) };
  expect(await place.authorize(request, never)).toMatchObject({ decision: "allow", layer: "mode" });
  await mkdir(join(place.root, ".roocode"));
  await writeFile(place.files.project, "permissions:\n  deny: [TaskCreate]\n");
  expect(await place.authorize(request, never)).toMatchObject({ decision: "deny", layer: "rule" });
});

test("a repository whose settings name a program makes reading git ask", async () => {
  await using place = await project();
  expect(await place.bash("git status")).toMatchObject({ decision: "allow" });
  await run("git", ["-C", place.root, "config", "filter.x.clean", "./x"]);
  expect(await place.bash("git status")).toMatchObject({ decision: "deny", layer: "mode" });
});

test("each decision is one line of the audit, without its secrets", async () => {
  await using place = await project();
  await place.bash("ls");
  await place.bash("curl -H 'Authorization: Bearer abcdefghijklm0123456789' https://x.example");
  const lines = (await readFile(place.audit, "utf8"))
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines.map((line) => [line.agent, line.tool, line.decision])).toEqual([
    ["alice", "Bash", "allow"],
    ["alice", "Bash", "deny"],
  ]);
  expect(JSON.stringify(lines)).not.toContain("abcdefghijklm0123456789");
});

test("a settings file that does not parse keeps its last good rules and is named with its line", async () => {
  await using place = await project();
  const said: string[] = [];
  const read = ruleReader(place.files, (text) => said.push(text));
  await mkdir(join(place.root, ".roocode"));
  await writeFile(place.files.project, "permissions:\n  deny: ['Bash(npm publish *)']\n");
  const good = await read();
  expect(good.rules.map((rule) => rule.text)).toEqual(["Bash(npm publish *)"]);
  await writeFile(place.files.project, "permissions:\n  deny: ['Bash(\n");
  const bad = await read();
  expect(bad.rules).toEqual(good.rules);
  expect(bad.warnings).toHaveLength(1);
  expect(bad.warnings[0]).toMatch(/config\.yaml:\d+: /);
  await read();
  expect(said).toEqual(bad.warnings);
});

test("the local settings keep their comments and other settings when a rule is added", async () => {
  await using place = await project(["always", "always"]);
  await mkdir(join(place.root, ".roocode"));
  await writeFile(place.files.local, "# mine\nmodel: opus\npermissions:\n  allow:\n    - Bash(npm run x) # often\n");
  await place.bash("find . -name \\*.ts -delete");
  await place.bash("npm test");
  expect(await readFile(place.files.local, "utf8")).toBe(
    "# mine\nmodel: opus\npermissions:\n  allow:\n    - Bash(npm run x) # often\n    - Bash(find . -name \\\\*.ts -delete)\n    - Bash(npm test)\n",
  );
  expect(await place.bash("find . -name \\*.ts -delete")).toMatchObject({ decision: "allow", layer: "rule" });
  expect(await place.bash("find . -name x.ts -delete")).toMatchObject({ decision: "deny" });
});

test("the pattern made from a text matches this text alone", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom("a", "b", "*", "\\", " ") }),
      fc.string({ unit: fc.constantFrom("a", "b", "*", "\\", " ") }),
      (text, other) => {
        expect(matchesStar(escapeStars(text), text)).toBe(true);
        expect(matchesStar(escapeStars(text), other)).toBe(text === other);
        expect(unescapeStars(escapeStars(text))).toBe(text);
      },
    ),
  );
});

const votes = fc.array(
  fc.record({
    decision: fc.constantFrom("allow" as const, "ask" as const, "deny" as const),
    sticky: fc.boolean(),
    layer: fc.constantFrom("danger" as const, "path" as const, "rule" as const, "mode" as const),
    reason: fc.string(),
  }),
  { minLength: 1, maxLength: 6 },
);

test("however the layers vote, the strictest vote wins and no order of them changes that", () => {
  fc.assert(
    fc.property(votes, fc.integer(), (all: LayerVote[], seed) => {
      const joined = joinVotes(all);
      const strictest = Math.max(...all.map(rank));
      expect(joined && rank(joined)).toBe(strictest);
      const turned = [...all.slice(Math.abs(seed) % all.length), ...all.slice(0, Math.abs(seed) % all.length)];
      const other = joinVotes(turned);
      expect(other && rank(other)).toBe(strictest);
      if (all.some((vote) => vote.decision === "deny")) expect(joined?.decision).toBe("deny");
    }),
  );
});

test("a command that only its mode asks for runs unasked inside the OS sandbox, and the decision says so", async () => {
  for (const mode of ["default", "acceptEdits"] as const) {
    await using place = await project([], { mode, contains: () => true });
    expect(await place.bash("make build")).toMatchObject({ decision: "allow", layer: "mode", reason: "it runs inside the OS sandbox" });
  }
  await using place = await project(["no"], { mode: "default", contains: (command) => !command.startsWith("docker") });
  expect(await place.bash("docker ps")).toMatchObject({ decision: "deny", layer: "human" });
});

test("the OS sandbox turns no deny, no rule's question, no sticky one, and nothing in plan mode", async () => {
  await using place = await project([], { contains: () => true, isHeadless: true });
  await mkdir(join(place.files.user, ".."), { recursive: true });
  await writeFile(place.files.user, 'permissions: {ask: ["Bash(make *)"], deny: ["Bash(npm *)"]}\n');
  for (const command of ["make build", "npm test", "rm -rf /", "cat .env", "echo x > .git/config"])
    expect(await place.bash(command), command).toMatchObject({ decision: "deny" });
  await using planning = await project([], { mode: "plan", contains: () => true, isHeadless: true });
  expect(await planning.bash("make build")).toMatchObject({ decision: "deny" });
});

test("a command that wants out of the OS sandbox is always asked for, whatever a rule or a mode allows", async () => {
  const outside = (command: string) =>
    ({ agent: "alice", tool: "Bash", access: { kind: "command", subject: command, isUnsandboxed: true } }) as const;
  for (const mode of ["default", "bypassPermissions"] as const) {
    await using place = await project(["no"], { mode, granted: ["Bash(make *)"], contains: () => true });
    expect(await place.authorize(outside("make build"), never)).toMatchObject({ decision: "deny", layer: "human" });
    expect(place.asked).toEqual(["it is to run outside of the OS sandbox"]);
  }
  await using headless = await project([], { granted: ["Bash(make *)"], isHeadless: true, contains: () => true });
  expect(await headless.authorize(outside("make build"), never)).toMatchObject({ decision: "deny" });
  await using without = await project([], { granted: ["Bash(make *)"], contains: () => false });
  expect(await without.authorize(outside("make build"), never)).toMatchObject({ decision: "allow" });
});
