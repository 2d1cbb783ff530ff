import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fetchBranch, publishBranch } from "../../../../src/team/bus/nats/branches.ts";
import { connectBus } from "../../../../src/team/bus/nats/client.ts";
import { busNames } from "../../../../src/team/bus/nats/names.ts";
import { natsDescribe } from "../../../support/nats-server.ts";
import { tempFolder } from "../../../support/temp.ts";
import { natsTeam } from "./nats-team.ts";

const run = (cwd: string, ...args: string[]) => execFileSync("git", args, { cwd, encoding: "utf8" }).trim();

async function commitFile(repo: string, name: string, text: string): Promise<string> {
  await writeFile(join(repo, name), text);
  run(repo, "add", "-A");
  run(repo, "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", name);
  return run(repo, "rev-parse", "HEAD");
}

/** The lead's repository, and a clone of it as another machine has it, on the branch `work`. */
async function twoMachines() {
  const team = await natsTeam("alice");
  const folder = await tempFolder();
  const [home, away] = [join(folder.path, "home"), join(folder.path, "away")];
  run(folder.path, "init", "-q", "-b", "main", home);
  const base = await commitFile(home, "a.txt", "a\n");
  run(folder.path, "clone", "-q", home, away);
  run(away, "checkout", "-qb", "work");
  const client = await connectBus({ url: team.server.url });
  const names = busNames("auth");
  const state = await client.existing(names.stateBucket);
  return {
    home,
    away,
    base,
    bus: { client, names, state },
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
      await team[Symbol.asyncDispose]();
    },
  };
}
const REF = "refs/roocode/auth/alice";

natsDescribe("branches over the bus", () => {
  test("a branch arrives whole, again when it has grown, and no other ref is touched", async () => {
    await using machines = await twoMachines();
    const { home, away, base, bus } = machines;
    const before = run(home, "for-each-ref");
    for (const text of ["one\n", "two\n"]) {
      const head = await commitFile(away, "b.txt", text);
      const sent = await publishBranch(bus, "alice", { folder: away, branch: "work", base });
      expect(sent).toMatchObject({ branch: "work", base, head });
      await fetchBranch(bus, "alice", { repo: home, ref: REF });
      expect(run(home, "rev-parse", REF)).toBe(head);
      expect(run(home, "show", `${REF}:b.txt`)).toBe(text.trim());
    }
    const others = run(home, "for-each-ref")
      .split("\n")
      .filter((line) => !line.endsWith(REF));
    expect(others.join("\n")).toBe(before);
    const store = await bus.client.objects(bus.names.artifacts);
    expect(await store.list()).toHaveLength(1);
  });

  test("a branch without a commit of its own, and one that was never sent", async () => {
    await using machines = await twoMachines();
    const { home, away, base, bus } = machines;
    await expect(fetchBranch(bus, "alice", { repo: home, ref: REF })).rejects.toThrow("alice has sent no branch yet");
    await publishBranch(bus, "alice", { folder: away, branch: "work", base });
    await fetchBranch(bus, "alice", { repo: home, ref: REF });
    expect(run(home, "rev-parse", REF)).toBe(base);
  });

  test("a bundle that is not what the record says, or whose base is not here, changes nothing", async () => {
    await using machines = await twoMachines();
    const { home, away, base, bus } = machines;
    const head = await commitFile(away, "b.txt", "one\n");
    const sent = await publishBranch(bus, "alice", { folder: away, branch: "work", base });
    const store = await bus.client.objects(bus.names.artifacts);
    const bundle = (await store.getBlob(sent.object)) ?? new Uint8Array();
    const broken = new Uint8Array(bundle).fill(0, 200);
    await store.putBlob({ name: sent.object }, broken);
    await expect(fetchBranch(bus, "alice", { repo: home, ref: REF })).rejects.toThrow("is not what its record says");
    await store.putBlob({ name: sent.object }, bundle);
    const record = (change: object) => bus.state.put(bus.names.branchKey("alice"), JSON.stringify({ ...sent, ...change }));
    await record({ head: base.replace(/./, "f") });
    await expect(fetchBranch(bus, "alice", { repo: home, ref: REF })).rejects.toThrow(`it holds ${head} refs/heads/work`);
    await record({ base: "e".repeat(40) });
    await expect(fetchBranch(bus, "alice", { repo: home, ref: REF })).rejects.toThrow("begins at eeeeeeeeeeee, which is not in");
    expect(run(home, "for-each-ref", REF)).toBe("");
    await record({});
    await fetchBranch(bus, "alice", { repo: home, ref: REF });
    expect(run(home, "rev-parse", REF)).toBe(head);
  });
});
