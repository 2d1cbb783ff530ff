import type { PlanInput } from "../../src/interaction/demo/plan.ts";
import type { BackendKind } from "../../src/protocol/team.ts";

const NAMES = ["alice", "bob", "carol", "dave"];
const LEAD_VICTIMS = ["lead KILL", "lead TERM", "lead HUP"] as const;
const GIT_VICTIMS = ["git merge", "git landing", "git commit", "any git"] as const;
export const VICTIMS = ["teammate", ...LEAD_VICTIMS, ...GIT_VICTIMS, "tmux server", "everything"] as const;
export type Victim = (typeof VICTIMS)[number];
export const MOMENTS = ["start", "spawning", "working", "merging", "ending", "anywhen"] as const;
export type Moment = (typeof MOMENTS)[number];

export type Scenario = {
  seed: number;
  backend: BackendKind;
  plan: PlanInput;
  check: string | undefined;
  victim: Victim;
  moment: Moment;
  /** Between 0 and 1: how far into the requests of that moment the kill comes. */
  depth: number;
  /** After the request that starts it. */
  delayMs: number;
  /** Of the model, before each answer. */
  latencyMs: number;
  random: () => number;
};

export type Wishes = { backend: "process" | "tmux" | "mixed"; victim?: Victim | undefined; moment?: Moment | undefined };

/** One line each; two teammates change the same one. */
export const FILES: Readonly<Record<string, string>> = {
  "README.md": "# A small repository\n",
  "shared.txt": "first line\nthe line that two change\nlast line\n",
  ...Object.fromEntries(NAMES.map((name) => [`src/${name}.txt`, `text of ${name}\n`])),
};

/** All that is random about a run, from its seed. */
export function scenarioOf(seed: number, wishes: Wishes): Scenario {
  const random = randomFrom(seed);
  const pick = <Item>(items: readonly Item[]): Item => {
    const item = items[Math.floor(random() * items.length)];
    if (item === undefined) throw new Error("There is nothing to pick from.");
    return item;
  };
  const names = NAMES.slice(0, 2 + Math.floor(random() * 2));
  const isTmux = wishes.backend === "tmux" || (wishes.backend === "mixed" && random() < 0.4);
  const kinds = [["teammate"], LEAD_VICTIMS, GIT_VICTIMS, ["everything"], ...(isTmux ? [["tmux server"] as const] : [])] as const;
  const drawn = pick<Victim>(pick<readonly Victim[]>(kinds));
  const moment = pick(MOMENTS.slice(1));
  return {
    seed,
    backend: isTmux ? "tmux" : "process",
    plan: planOf(names, random),
    check: random() < 0.4 ? "! grep -rn '^<<<<<<< ' --include='*.txt' ." : undefined,
    victim: wishes.victim ?? drawn,
    // A trap waits for its git.
    moment: wishes.moment ?? (GIT_VICTIMS.some((one) => one === drawn) ? "start" : moment),
    depth: random(),
    delayMs: Math.floor(random() * 150),
    latencyMs: Math.floor(20 + random() * 60),
    random,
  };
}

/** Every teammate changes a file of its own and makes one by a command; the first two also change the same line. */
function planOf(names: readonly string[], random: () => number): PlanInput {
  const mark = (name: string, what: string) => `MARK-${name}-${what}`;
  const tasks = names.flatMap((name, index) => {
    const own = {
      key: `${name}-own`,
      subject: `${name} changes its own file`,
      teammate: name,
      edits: [
        { file: `src/${name}.txt`, old: `text of ${name}`, new: `text of ${name}, ${mark(name, "edit")}` },
        { file: `new/${name}.txt`, content: `${mark(name, "write")}\n` },
      ],
    };
    const shared = {
      key: `${name}-shared`,
      subject: `${name} changes the shared line`,
      teammate: name,
      edits: [{ file: "shared.txt", old: "the line that two change", new: `the line that two change, ${mark(name, "shared")}` }],
    };
    const command = {
      key: `${name}-command`,
      subject: `${name} runs a command`,
      teammate: name,
      edits: [{ file: `notes/${name}.txt`, content: `${mark(name, "note")}\n` }],
      commands: [`echo ${mark(name, "command")} > by-command-${name}.txt; sleep ${(random() * 0.3).toFixed(2)}`],
    };
    return [own, ...(index < 2 ? [shared] : []), ...(random() < 0.5 ? [command] : [])];
  });
  return {
    teammates: names.map((name) => ({ name, prompt: `You are ${name}: do the tasks with your name.` })),
    tasks,
  };
}

/** mulberry32: small, and the same everywhere. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
