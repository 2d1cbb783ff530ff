import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fakeModel, PROTOCOLS } from "../support/fake-model.ts";
import { testHome } from "../support/home.ts";
import { stdioServer } from "../support/mcp.ts";

const LONG = 90_000;

test.each(PROTOCOLS)(
  "C-18: over 200 turns, a resume and a fork each body only extends the one before, whatever order servers come up in, over %s",
  { timeout: LONG },
  async (protocol) => {
    let turn = 0;
    await using model = await fakeModel(({ steps }) => {
      const said = steps.findLast((step) => step.type === "words" && step.from === "user");
      if (said?.type === "words" && /go on/.test(said.text)) return { text: "Went on." };
      turn += 1;
      if (turn >= 200) return { text: "Done." };
      if (turn % 5 === 0)
        return {
          calls: [
            { name: "ReadFile", input: { path: "README.md" } },
            { name: "Glob", input: { pattern: `*${turn}*` } },
          ],
        };
      return { text: `Step ${turn}.`, calls: [{ name: "ReadFile", input: { path: "src/limits.js", offset: 1 + (turn % 3) } }] };
    });
    await using home = await testHome();
    const servers = async (...names: readonly string[]) => {
      const path = join(home.home, `${names.join("-")}.json`);
      await writeFile(path, JSON.stringify({ mcpServers: Object.fromEntries(names.map((name) => [name, stdioServer()])) }));
      return ["--mcp-config", path];
    };
    const options = { env: model.env(protocol), timeoutMs: LONG };
    const first = await home.roocode(["-p", "work", "--max-turns", "250", ...(await servers("alpha", "beta"))], options);
    expect(first).toMatchObject({ code: 0, stdout: "Done.\n" });
    const again = await home.roocode(["-p", "-c", "go on", ...(await servers("beta", "alpha"))], options);
    expect(again).toMatchObject({ code: 0, stdout: "Went on.\n" });
    const fork = await home.roocode(["-p", "-c", "--fork-session", "go on, but elsewhere"], options);
    expect(fork).toMatchObject({ code: 0, stdout: "Went on.\n" });
    expect(model.proxy.captures).toHaveLength(202);
    model.proxy.assertLegal();
    const heads = new Set(model.proxy.captures.map(({ body }) => JSON.stringify(headOf(JSON.parse(body)))));
    expect(heads.size).toBe(1);
  },
);

/** What stands before the messages; the session's key is another one for a fork. */
function headOf(body: Record<string, unknown> & { messages: { role: string }[] }): unknown {
  const { messages, prompt_cache_key: _, ...head } = body;
  return { ...head, system: body.system ?? messages[0] };
}
