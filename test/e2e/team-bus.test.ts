import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { connect } from "@nats-io/transport-node";
import { expect, test } from "vitest";
import { gitText } from "../../src/platform/git.ts";
import { eventually } from "../support/eventually.ts";
import { fakeModel } from "../support/fake-model.ts";
import { testHome } from "../support/home.ts";
import { natsDescribe, natsServer } from "../support/nats-server.ts";
import { startTeam, statusOf } from "../support/running-team.ts";
import { TWO_FILES } from "../support/two-files.ts";

const LONG = 90_000;

async function streamsOn(url: string): Promise<string[]> {
  const { jetstreamManager } = await import("@nats-io/jetstream");
  const connection = await connect({ servers: url });
  const names: string[] = [];
  for await (const { config } of (await jetstreamManager(connection)).streams.list()) names.push(config.name);
  await connection.close();
  return names;
}

natsDescribe("a team over a NATS server", () => {
  test(
    "works, is seen while it works, merges, and leaves its record in files and nothing on the server",
    async () => {
      await using server = await natsServer();
      await using home = await testHome();
      await using model = await fakeModel({ plan: TWO_FILES });
      const flags = ["-p", "--backend", "process", "--bus", server.url, "--name", "far"];
      await using team = startTeam(home, [...flags, "go"], model.env("anthropic"));
      await eventually(async () => (await streamsOn(server.url)).length > 0);
      await eventually(async () => (await statusOf(home, "far")).tasks.length === 2);
      expect((await team.ended).code, team.output()).toBe(0);
      expect(await gitText(home.repo, ["ls-files"])).toContain("a.txt\nb.txt");
      expect(await streamsOn(server.url)).toEqual([]);
      const report = await home.roocode(["team", "report", "far"]);
      expect(report.stdout).toMatch(/2 of 2 tasks completed/);
    },
    LONG,
  );

  test(
    "a lead that is killed is resumed over the same server, and a server that restarts in between loses nothing",
    async () => {
      await using server = await natsServer();
      await using home = await testHome();
      await using model = await fakeModel({ plan: TWO_FILES });
      const flags = ["-p", "--backend", "process", "--no-merge", "--bus", server.url, "--name", "far"];
      const first = await home.roocode(["team", ...flags, "go"], { env: model.env("anthropic"), timeoutMs: LONG });
      expect(first.code, first.stderr).toBe(0);
      await server.stop("SIGKILL");
      const down = await home.roocode(["team", "status", "far"]);
      expect([down.code, down.stderr]).toEqual([2, expect.stringContaining("There is no NATS server to be reached at nats://127.0.0.1:")]);
      await server.start();
      const status = await statusOf(home, "far");
      expect(status.tasks.map((task: { status: string }) => task.status)).toEqual(["completed", "completed"]);
      const again = await home.roocode(["team", "resume", "far", "-p"], { env: model.env("anthropic"), timeoutMs: LONG });
      expect(again.code, again.stderr).toBe(0);
      expect((await home.roocode(["team", "clean", "far", "--force"])).code).toBe(0);
      expect(await streamsOn(server.url)).toEqual([]);
    },
    LONG,
  );

  test("what is wrong with --bus is one line, and no team is left of it", async () => {
    await using home = await testHome();
    await using model = await fakeModel({ plan: TWO_FILES });
    const run = (...more: string[]) => home.roocode(["team", "-p", "--backend", "process", ...more, "go"], { env: model.env("anthropic") });
    await writeFile(join(home.repo, "seed.nk"), "nothing\n");
    for (const [flags, words] of [
      [["--bus", "127.0.0.1:4222"], "is no address of a bus"],
      [["--bus", "nats://u:secret-word@127.0.0.1:4222"], "No user and password in the bus's address"],
      [["--bus", "nats://127.0.0.1:1"], "There is no NATS server to be reached at nats://127.0.0.1:1"],
      [["--bus", "nats://127.0.0.1:1", "--bus-credentials", "seed.nk"], "neither an nkey seed"],
      [["--bus", "nats://127.0.0.1:1", "--bus-ca", "none.pem"], "none.pem is not there"],
      [["--bus-ca", "ca.pem"], "no bus: add --bus"],
    ] as const) {
      const { code, stderr } = await run(...flags);
      expect([code, stderr.trim().split("\n").length, stderr]).toEqual([2, 1, expect.stringContaining(words)]);
      expect(stderr).not.toContain("secret-word");
    }
    expect((await home.roocode(["team", "list"])).stdout).toContain("No teams.");
  });
});
