import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { KV } from "@nats-io/kv";
import * as z from "zod";
import { git, gitText } from "../../../platform/git.ts";
import { makeTempFolder } from "../../../platform/temp-folder.ts";
import { UserError } from "../../../protocol/errors.ts";
import { type BusClient, persistently } from "./client.ts";
import type { BusNames } from "./names.ts";
import { kvReader } from "./records.ts";

const commit = z.string().regex(/^[0-9a-f]{40}([0-9a-f]{24})?$/);
/** What a member says of its branch; the bundle must hold that and nothing else. */
const PublishedSchema = z.object({
  branch: z.string(),
  base: commit,
  head: commit,
  object: z.string(),
  bytes: z.number().int().nonnegative(),
});
export type PublishedBranch = z.infer<typeof PublishedSchema>;

/** Sends `base..branch` of a repository to the bus as a git bundle, under the member's name. What it sent before goes. */
export async function publishBranch(
  bus: { client: BusClient; names: BusNames; state: KV },
  member: string,
  { folder, branch, base }: { folder: string; branch: string; base: string },
): Promise<PublishedBranch> {
  const { client, names, state } = bus;
  const [head, from] = [await commitOf(folder, `refs/heads/${branch}`), await commitOf(folder, base)];
  const before = await publishedBranch(bus, member);
  if (before?.head === head && before.base === from && before.branch === branch) return before;
  // A bundle of nothing can't be made; the record alone says that there is nothing.
  const bundle = head === from ? new Uint8Array() : await bundled(folder, branch, from);
  const object = `${names.branchKey(member)}.${head}`;
  const published = { branch, base: from, head, object, bytes: bundle.byteLength };
  const store = await client.objects(names.artifacts);
  // The record last: what it names is there.
  await persistently(client, () => store.putBlob({ name: object }, bundle));
  await persistently(client, () => state.put(names.branchKey(member), JSON.stringify(published)));
  if (before && before.object !== object) await store.delete(before.object);
  return published;
}

async function publishedBranch(
  { client, names, state }: { client: BusClient; names: BusNames; state: KV },
  member: string,
): Promise<PublishedBranch | undefined> {
  const stored = await kvReader(client, state)(names.branchKey(member));
  return stored === undefined ? undefined : PublishedSchema.parse(JSON.parse(stored.text));
}

/**
 * Fetches a member's branch into a repository as `ref`. Throws a UserError for a bundle that does not apply, or that is not what the
 * member's record says; nothing is changed then.
 */
export async function fetchBranch(
  bus: { client: BusClient; names: BusNames; state: KV },
  member: string,
  { repo, ref }: { repo: string; ref: string },
): Promise<PublishedBranch> {
  const { client, names } = bus;
  const published = await publishedBranch(bus, member);
  if (published === undefined) throw new UserError(`${member} has sent no branch yet.`);
  const { branch, base, head, object, bytes } = published;
  if (!(await hasCommit(repo, base))) {
    throw new UserError(
      `${member}'s branch ${branch} begins at ${base.slice(0, 12)}, which is not in ${repo}. Fetch that commit, and try again.`,
    );
  }
  if (head !== base) {
    const store = await client.objects(names.artifacts);
    const bundle = await persistently(client, () => store.getBlob(object));
    if (bundle === null || bundle.byteLength !== bytes) throw notAsSaid(member, `it has ${bundle?.byteLength ?? 0} bytes, not ${bytes}`);
    await unbundle(member, repo, published, bundle);
  }
  await gitText(repo, ["update-ref", ref, head]);
  return published;
}

/** The objects alone come into the repository: no ref but ours is written. */
async function unbundle(member: string, repo: string, { branch, head }: PublishedBranch, bundle: Uint8Array): Promise<void> {
  const folder = makeTempFolder("bundle");
  try {
    const path = join(folder, "branch.bundle");
    await writeFile(path, bundle, { mode: 0o600 });
    const heads = await git(repo, ["bundle", "list-heads", path]);
    if (heads.exitCode !== 0) throw notAsSaid(member, "it is no git bundle");
    if (heads.stdout.trim() !== `${head} refs/heads/${branch}`) throw notAsSaid(member, `it holds ${heads.stdout.trim() || "nothing"}`);
    const fetched = await git(repo, ["fetch", "--no-tags", "--no-write-fetch-head", "--no-auto-gc", path, `refs/heads/${branch}`]);
    if (fetched.exitCode !== 0) throw notAsSaid(member, `git can't apply it: ${fetched.stderr.trim().split("\n").at(-1)}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function bundled(folder: string, branch: string, base: string): Promise<Uint8Array> {
  const place = makeTempFolder("bundle");
  try {
    const path = join(place, "branch.bundle");
    await gitText(folder, ["bundle", "create", "--quiet", path, `refs/heads/${branch}`, `^${base}`]);
    return await readFile(path);
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

async function commitOf(folder: string, name: string): Promise<string> {
  return gitText(folder, ["rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`]);
}

async function hasCommit(repo: string, id: string): Promise<boolean> {
  return (await git(repo, ["cat-file", "-e", `${id}^{commit}`])).exitCode === 0;
}

function notAsSaid(member: string, what: string): UserError {
  return new UserError(
    `The bundle of ${member}'s branch is not what its record says: ${what}. Nothing was taken; ask ${member} to send it again.`,
  );
}
