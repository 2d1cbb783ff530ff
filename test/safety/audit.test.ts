import { execFile } from "node:child_process";
import { appendFile, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import type { PermissionDecision } from "../../src/protocol/permission.ts";
import { auditFile, auditLine } from "../../src/safety/audit.ts";
import { readAudit, verifyAudit } from "../../src/safety/audit-log.ts";
import { tempFolder } from "../support/temp.ts";

const denied: PermissionDecision = { decision: "deny", sticky: false, layer: "danger", reason: "no" };
const line = (command: string, session = "s1") =>
  auditLine(
    { agent: "main", tool: "Bash", access: { kind: "command", subject: command } },
    denied,
    denied,
    { session, cwd: "/p", root: "/p", mode: "default" },
    new Date(0),
  );

async function log() {
  const temp = await tempFolder("audit");
  const path = join(temp.path, "log", "audit.jsonl");
  return { path, folder: join(temp.path, "log"), [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose]() };
}

test("writers of several processes share a log, and each one's chain is whole", async () => {
  await using place = await log();
  const [a, b, c] = [auditFile(place.path), auditFile(place.path), auditFile(place.path)];
  await Promise.all(Array.from({ length: 30 }, (_, index) => [a, b, c][index % 3]?.(line(`ls ${index}`))));
  await auditFile(place.path)(line("later"));
  expect(await verifyAudit(place.path)).toEqual({ lines: 31, chains: 4, problems: [] });
});

test("a line that was changed, taken out, moved or put in by hand shows", async () => {
  await using place = await log();
  const write = auditFile(place.path);
  for (const command of ["a", "b", "c", "d"]) await write(line(command));
  await auditFile(place.path)(line("another process"));
  const whole = await readFile(place.path, "utf8");
  const lines = whole.trim().split("\n");
  const problemsOf = async (text: string) => {
    await writeFile(place.path, text);
    return (await verifyAudit(place.path)).problems;
  };
  const join_ = (some: readonly (string | undefined)[]) => `${some.join("\n")}\n`;
  expect(await problemsOf(whole)).toEqual([]);
  expect((await problemsOf(whole.replace('"subject":"b"', '"subject":"x"')))[0]).toMatch(/:3: the line .*-2 before it was changed/);
  expect((await problemsOf(join_([lines[0], lines[2], lines[3], lines[4]])))[0]).toMatch(/:2: lines are missing between .*-1 and .*-3/);
  expect(await problemsOf(join_([lines[0], lines[2], lines[1], lines[3], lines[4]]))).not.toEqual([]);
  expect((await problemsOf(join_(lines.slice(1))))[0]).toMatch(/:1: what stood before .* was changed or is missing/);
  expect((await problemsOf(join_([...lines.slice(0, 3), lines[4]])))[0]).toMatch(/what stood before/);
  expect((await problemsOf(`${whole}free words\n`))[0]).toMatch(/:6 is no line of an audit log/);
});

test("a full log is put aside and its chain goes on in the next, and only the last four are kept", async () => {
  await using place = await log();
  const write = auditFile(place.path, 2_000);
  for (let count = 0; count < 10; count++) await write(line(`ls ${count}`));
  expect((await readdir(place.folder)).length).toBeGreaterThan(1);
  expect((await verifyAudit(place.path)).problems).toEqual([]);
  for (let count = 10; count < 60; count++) await write(line(`ls ${count}`));
  expect((await readdir(place.folder)).sort()).toEqual(["audit.jsonl", ...[1, 2, 3, 4].map((number) => `audit.jsonl.${number}`)]);
  expect((await verifyAudit(place.path)).problems).toEqual([]);
  expect((await readAudit(place.path)).at(-1)?.subject).toBe("ls 59");
});

test.each(["mkfifo", "mkdir"])("where the log can't be written to, the work goes on: %s", async (program) => {
  await using place = await log();
  await mkdir(place.folder);
  await promisify(execFile)(program, [place.path]);
  const record = auditFile(place.path);
  await record(line("ls"));
  await rm(place.path, { recursive: true });
  await record(line("ls -l"));
  expect(await verifyAudit(place.path)).toMatchObject({ lines: 2, problems: [] });
});

test.skipIf(process.platform !== "linux")(
  "on a full disk the work goes on, and the lines come with the next one that can be written",
  async () => {
    await using place = await log();
    await mkdir(place.folder);
    await symlink("/dev/full", place.path);
    const write = auditFile(place.path);
    await write(line("a"));
    await write(line("b"));
    await rm(place.path);
    await write(line("c"));
    expect((await readAudit(place.path)).map((entry) => entry.subject)).toEqual(["a", "b", "c"]);
    expect((await verifyAudit(place.path)).problems).toEqual([]);
  },
);

test("secrets are masked and a subject without end is shortened", async () => {
  await using place = await log();
  const write = auditFile(place.path);
  await write(line("curl -H 'Authorization: Bearer abcdefghijklm0123456789' x"));
  await write(line("x".repeat(1_000_000)));
  const text = await readFile(place.path, "utf8");
  expect(text).not.toContain("abcdefghijklm0123456789");
  expect(text.length).toBeLessThan(12_000);
});

test("decisions are found by session, tool and outcome, those of an earlier version too", async () => {
  await using place = await log();
  const write = auditFile(place.path);
  await write(line("a", "s1"));
  await write(line("b", "s2"));
  await appendFile(place.path, '{"at":"x","agent":"old","tool":"Bash","kind":"command","subject":"c","decision":"allow","previous":"0"}\n');
  const subjects = async (filter: Parameters<typeof readAudit>[1]) => (await readAudit(place.path, filter)).map((entry) => entry.subject);
  expect(await subjects({})).toEqual(["a", "b", "c"]);
  expect(await subjects({ session: "s2" })).toEqual(["b"]);
  expect(await subjects({ deniedOnly: true })).toEqual(["a", "b"]);
  expect(await subjects({ tool: "ReadFile" })).toEqual([]);
});

test.each(["mkfifo", "mkdir", "ln -s /dev/zero"])("who reads a log that is no file is told so: %s", async (command) => {
  await using place = await log();
  await mkdir(place.folder);
  const [program = "", ...args] = command.split(" ");
  await promisify(execFile)(program, [...args, place.path]);
  await expect(readAudit(place.path)).rejects.toThrow(`${place.path} is no file`);
  await expect(verifyAudit(place.path)).rejects.toThrow("decisions are not recorded");
});

test("a line that was cut off does not swallow the next decision, and one that is none is not shown as a decision", async () => {
  await using place = await log();
  await auditFile(place.path)(line("a"));
  await appendFile(place.path, '{"decision":"allow"}\n{"id":"x","decision"');
  await auditFile(place.path)(line("b"));
  expect((await readAudit(place.path)).map(({ subject }) => subject)).toEqual(["a", "b"]);
  expect((await verifyAudit(place.path)).problems).toHaveLength(2);
});
