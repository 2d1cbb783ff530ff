import { chmod, mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { fakeModel, PROTOCOLS } from "../../support/fake-model.ts";
import { type TestHome, testHome } from "../../support/home.ts";
import { rawServer } from "../../support/raw-sse.ts";

const FILES = { "f.txt": "one\n" };

type Check = { name: string; status: string; text: string; mend?: string };

async function doctor(home: TestHome, env: Record<string, string>, args: readonly string[] = []) {
  const run = await home.roocode(["doctor", "--json", ...args], { env });
  const { ok, checks }: { ok: boolean; checks: Check[] } = JSON.parse(run.stdout);
  return { code: run.code, ok, checks, check: (name: string) => checks.find((one) => one.name === name) };
}

test.each(PROTOCOLS)("a server that answers and calls tools is well, over %s, and nothing is left behind", async (protocol) => {
  await using home = await testHome(FILES);
  await using model = await fakeModel(() => ({ calls: [{ name: "ready", input: { ok: true } }] }));
  const { code, ok, check } = await doctor(home, model.env(protocol));
  expect({ code, ok }).toEqual({ code: 0, ok: true });
  expect(check("server")).toMatchObject({
    status: "ok",
    text: expect.stringMatching(/answered as \S+ in \d+ ms, first word after \d+ ms/),
  });
  expect(check("tool calls")).toMatchObject({ status: "ok" });
  expect(model.proxy.captures).toHaveLength(1);
  model.proxy.assertLegal();
  expect(await readdir(home.home)).toEqual([]);
});

test("a model that calls no tool is a warning", async () => {
  await using home = await testHome(FILES);
  await using model = await fakeModel(() => ({ text: "I am ready." }));
  const { code, check } = await doctor(home, model.env("openai"));
  expect(code).toBe(0);
  expect(check("tool calls")).toMatchObject({ status: "warn", mend: expect.any(String) });
});

test.each([
  ["a wrong key", { status: 401, message: "invalid x-api-key" }, /invalid x-api-key/, /ANTHROPIC_API_KEY/],
  ["a model that is not there", { status: 404, message: "model: nope" }, /nope/, /has the model/],
  ["a spent account", { status: 402, message: "credit balance is too low" }, /credit/, /balance/],
] as const)("%s is exit 1, with cause and mend, and is asked once", async (_, answer, cause, mend) => {
  await using home = await testHome(FILES);
  await using model = await fakeModel(() => answer);
  const { code, check } = await doctor(home, model.env("anthropic"));
  expect(code).toBe(1);
  expect(check("server")).toMatchObject({ status: "fail", text: expect.stringMatching(cause), mend: expect.stringMatching(mend) });
  expect(model.proxy.captures).toHaveLength(1);
});

test("a server that is not there, and a page that is no model's, are told apart", async () => {
  await using home = await testHome(FILES);
  const nobody = await doctor(home, { OPENAI_API_KEY: "k", OPENAI_BASE_URL: "http://127.0.0.1:9/v1" });
  expect(nobody.check("server")).toMatchObject({ status: "fail", mend: expect.stringContaining("127.0.0.1:9") });
  await using page = await rawServer({ headers: { "content-type": "text/html" }, steps: ["<html>Log in</html>"] });
  const other = await doctor(home, { OPENAI_API_KEY: "k", OPENAI_BASE_URL: `${page.url}/v1` });
  expect(other).toMatchObject({ code: 1 });
  expect(other.check("server")).toMatchObject({ status: "fail", mend: expect.stringContaining("protocol") });
});

test("--offline asks nobody; without a key it is exit 1 and names the variables", async () => {
  await using home = await testHome(FILES);
  await using model = await fakeModel(() => ({ text: "" }));
  const offline = await doctor(home, model.env("anthropic"), ["--offline"]);
  expect(offline.code).toBe(0);
  expect(offline.check("server")).toMatchObject({ status: "off" });
  expect(model.proxy.captures).toHaveLength(0);
  const none = await doctor(home, {});
  expect(none.code).toBe(1);
  expect(none.check("model")).toMatchObject({ status: "fail", text: expect.stringContaining("ANTHROPIC_API_KEY") });
});

test("settings problems are warnings, one line each; a missing tmux is a warning, a missing git a fault", async () => {
  await using home = await testHome(FILES);
  await mkdir(home.data, { recursive: true });
  await writeFile(join(home.data, "config.yaml"), "modle: x\n");
  const bin = join(home.home, "bin");
  await mkdir(bin);
  await symlink(process.execPath, join(bin, "node"));
  const env = { ANTHROPIC_API_KEY: "k", PATH: bin };
  const bare = await doctor(home, env, ["--offline"]);
  expect(bare.code).toBe(1);
  expect([bare.check("git")?.status, bare.check("tmux")?.status]).toEqual(["fail", "warn"]);
  expect(bare.check("settings")).toMatchObject({ status: "warn", text: expect.stringContaining("config.yaml:1") });
  await writeFile(join(bin, "git"), "#!/bin/sh\necho git version 2.30.2\n");
  await chmod(join(bin, "git"), 0o755);
  const old = await home.roocode(["doctor", "--offline"], { env: { ...env, PATH: `${bin}:${dirname("/bin/sh")}` } });
  expect(old.code).toBe(0);
  expect(old.stdout).toMatch(/^! git: git 2\.30\.2 .*2\.38/m);
  for (const line of old.stdout.trimEnd().split("\n")) expect(line).toMatch(/^[✓!✗–] [a-z0-9 ]+: .+\.$/);
});
