import { randomUUID } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { openSession } from "../../src/runtime/open-session.ts";
import { readSurroundings } from "../../src/runtime/surroundings.ts";
import { eventually } from "../support/eventually.ts";
import { fakeModel } from "../support/fake-model.ts";
import { testHome } from "../support/home.ts";
import { stdioServer } from "../support/mcp.ts";
import { processesWith } from "../support/running-team.ts";

test("a session that can't go on with its sub-agents lets go of all that it opened", async () => {
  await using model = await fakeModel(() => ({ text: "Fine." }));
  await using home = await testHome();
  await home.roocode(["-p", "one"], { env: model.env("anthropic") });
  const [path = ""] = await home.sessions();
  // No record, but a folder in the place of one.
  await mkdir(path.replace(/\.jsonl$/, ".agents/agent-1.json"), { recursive: true });
  const { args, ...server } = stdioServer("good", { required: true });
  const mark = randomUUID();
  const config = join(home.home, "mcp.json");
  await writeFile(config, JSON.stringify({ mcpServers: { demo: { ...server, args: [...args, mark] } } }));
  const env = { HOME: home.home, PATH: process.env.PATH ?? "", ...model.env("anthropic") };
  const surroundings = await readSurroundings(home.repo, env, {});
  const options = { resume: basename(path, ".jsonl"), maxTurns: 1, askUser: async () => undefined, mcpConfig: [config] };
  await expect(openSession(surroundings, options)).rejects.toThrow("EISDIR");
  await eventually(async () => (await processesWith(mark)).length === 0);
});
