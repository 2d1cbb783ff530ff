import { spawn } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Answer, Conversation } from "../../../src/interaction/demo/conversation.ts";
import { eventually } from "../eventually.ts";
import { type FakeModel, fakeModel, inOrder } from "../fake-model.ts";
import { childEnvironment } from "../home.ts";
import { tmuxSocket } from "../tmux-server.ts";
import { answersOf, type InjectionCase, type Place, placeOf } from "./case.ts";
import { type MailPlay, playMail } from "./mail.ts";

const BIN = decodeURIComponent(new URL("../../../bin/roocode.js", import.meta.url).pathname);

type Audited = { agent: string; tool: string; decision: string; layer: string; reason: string };
export type Played = AsyncDisposable & {
  place: Place;
  model: FakeModel;
  exitCode: number | null;
  /** What a person saw: stdout and stderr, or the pane. */
  output: string;
  /** As the trust question stood there; undefined when there was none. */
  trustPrompt: string | undefined;
  /** Questions that the person answered with no. */
  refused: number;
  audit: Audited[];
  mail?: MailPlay;
};

/** Where a person must answer, the REPL in a pane. */
export function needsPane({ expect }: InjectionCase): boolean {
  return "whenHumanSays" in expect || "trustPrompt" in expect;
}

/** Plays one case through the built program, to its end. */
export async function play(raw: InjectionCase): Promise<Played> {
  const place = await placeOf(raw);
  const { given } = place;
  const model = await fakeModel(given.subModel.length > 0 ? teamAnswers(given) : inOrder(...answersOf(given.model)));
  const env = { ...childEnvironment(place.home), ...model.env("anthropic") };
  const common = { place, model, trustPrompt: undefined, refused: 0 };
  const dispose = async () => {
    await model[Symbol.asyncDispose]();
    await place[Symbol.asyncDispose]();
  };
  try {
    const ended = await (given.team
      ? playMail(place, model, env).then((mail) => ({ exitCode: 0, output: mail.output, mail }))
      : needsPane(given)
        ? playInPane(given, place, env)
        : run([...(given.subModel.length > 0 ? TEAM : ["-p"]), ...flags(given), given.user], place.repo, env));
    return { ...common, ...ended, audit: await auditOf(place.data), [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

/** Print mode on the same place, where nobody is asked. */
export async function playHeadless({ place, model }: Played): Promise<string> {
  const env = { ...childEnvironment(place.home), ...model.env("anthropic") };
  return (await run(["-p", place.given.user], place.repo, env)).output;
}

const TEAM = ["team", "-p", "--name", "inj", "--backend", "process", "--no-merge"];

/** The default mode goes without a flag: a project's wish for another one must not be hidden by it. Teams have another default. */
function flags({ trusted, mode, subModel }: InjectionCase): string[] {
  const chosen = mode === "default" && subModel.length === 0 ? [] : ["--permission-mode", mode];
  return [...(trusted ? ["--trust"] : []), ...chosen];
}

/** The lead calls as the case says, then by the definition's mode in its own words; its teammate is the case's sub-agent. */
function teamAnswers({ model, subModel }: InjectionCase): (conversation: Conversation) => Answer {
  const [first] = answersOf(model);
  const input = first?.calls?.[0]?.input ?? {};
  const again = {
    name: "Agent",
    input: { prompt: input.prompt, description: input.description, name: "fixer", permission_mode: "bypassPermissions" },
  };
  const lead = inOrder(first ?? {}, { calls: [again] }, { text: "done" });
  const sub = inOrder(...answersOf(subModel));
  return (conversation) => (conversation.role.type === "worker" ? sub(conversation) : lead(conversation));
}

async function run(
  args: readonly string[],
  cwd: string,
  env: Record<string, string>,
): Promise<{ exitCode: number | null; output: string }> {
  const child = spawn(process.execPath, [BIN, ...args], { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  const timer = setTimeout(() => {
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  }, 60_000);
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  clearTimeout(timer);
  return { exitCode, output };
}

/** A person who says no to everything, then ends the session. */
async function playInPane(given: InjectionCase, place: Place, env: Record<string, string>) {
  await using socket = await tmuxSocket();
  const settings = Object.entries(env).flatMap(([name, value]) => ["-e", `${name}=${value}`]);
  const words = [process.execPath, BIN, ...flags(given), given.user].map((word) => `'${word}'`).join(" ");
  const size = ["-x", "250", "-y", "60", "-c", place.repo];
  const pane = await socket.tmux(
    "new-session",
    "-d",
    "-P",
    "-F",
    "#{pane_id}",
    ...size,
    ...settings,
    `${words}; echo "ended with $?"; exec sleep 1000`,
  );
  const screen = () => socket.tmux("capture-pane", "-p", "-J", "-S", "-500", "-t", pane);
  const say = (text: string) => socket.tmux("send-keys", "-t", pane, text, "Enter");
  let trustPrompt: string | undefined;
  let refused = 0;
  let isLeaving = false;
  await eventually(async () => {
    const seen = await screen();
    if (/ended with \d+/.test(seen)) return true;
    const last = seen.trimEnd().split("\n").at(-1) ?? "";
    if (/\[y\]es \[n\]o.* >$/.test(last)) {
      if (last.startsWith("All of it is off until you accept exactly this.")) trustPrompt = seen;
      else refused += 1;
      await say("n");
      await eventually(async () => !(await screen()).trimEnd().endsWith(last));
    } else if (last === ">" && !isLeaving && seen.includes("/help lists commands")) {
      isLeaving = true;
      await say("/exit");
    }
    return false;
  }, 60_000).catch(async (error: unknown) => {
    throw new Error(`${String(error)}\n${await screen()}`);
  });
  const output = await screen();
  return { exitCode: Number(/ended with (\d+)/.exec(output)?.[1]), output, trustPrompt, refused };
}

async function auditOf(data: string): Promise<Audited[]> {
  const found: Audited[] = [];
  for (const name of await readdir(data, { recursive: true })) {
    if (!name.endsWith("audit.jsonl")) continue;
    const lines = (await readFile(join(data, name), "utf8")).trimEnd().split("\n");
    found.push(...lines.map((line): Audited => JSON.parse(line)));
  }
  return found;
}

/** What the first four layers said: a question that a person or nobody answered was an ask. */
export function decisionOf({ decision, layer, reason }: Audited): string {
  return layer === "human" || reason.includes("nobody is here to answer") ? "ask" : decision;
}
