import { expect, test } from "vitest";
import { userText } from "../../src/protocol/message.ts";
import { openSession } from "../../src/runtime/open-session.ts";
import { readSurroundings } from "../../src/runtime/surroundings.ts";
import { fakeModel, inOrder } from "../support/fake-model.ts";
import { testHome } from "../support/home.ts";

test("a call that changes something waits until the session is on the disk, a call that looks does not, and the end is on the disk", async () => {
  const script = inOrder(
    { calls: [{ name: "ReadFile", input: { path: "README.md" } }] },
    { calls: [{ name: "Bash", input: { command: "touch made" } }] },
    { calls: [{ name: "Glob", input: { pattern: "*" } }] },
    { text: "Done." },
  );
  await using model = await fakeModel(script);
  await using home = await testHome();
  const env = { HOME: home.home, PATH: process.env.PATH ?? "", ...model.env("anthropic") };
  const surroundings = await readSurroundings(home.repo, env, { permissionMode: "bypassPermissions" });
  await using session = await openSession(surroundings, { maxTurns: 50, askUser: async () => undefined });
  const seen: string[] = [];
  const file = session.session;
  const sync = file.sync.bind(file);
  file.sync = () => {
    seen.push("sync");
    sync();
  };
  for await (const event of session.agent.run({ message: userText("go") }, AbortSignal.timeout(20_000)))
    if (event.type === "tool_result") seen.push(event.call.name);
  expect(seen).toEqual(["ReadFile", "sync", "Bash", "Glob", "sync"]);
});
