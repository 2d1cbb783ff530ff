import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { isErrno, writeAtomic } from "../../platform/files.ts";
import { ownEnvironment } from "../../platform/own-programs.ts";
import { processStart } from "../../platform/process.ts";
import { UserError } from "../../protocol/errors.ts";
import { TmuxClient, TmuxError } from "./tmux-client.ts";
import { awaitStatus, lastLines } from "./tmux-death.ts";
import { literal, safeFolder } from "./tmux-names.ts";
import { hold, LIST_PANES, type Pane, readPanes } from "./tmux-panes.ts";

const HandoverSchema = z.object({
  version: z.literal(1),
  argv: z.array(z.string()),
  cwd: z.string(),
  env: z.record(z.string(), z.string()),
});
/** A command that goes on inside of tmux: the arguments behind its script, its folder, its environment. */
export type Handover = Pick<z.output<typeof HandoverSchema>, "argv" | "cwd" | "env">;

type Options = {
  sessionName: string;
  /** Program, script, and the arguments that the script gets inside by `takeHandover`. */
  argv: readonly string[];
  cwd: string;
  env: NodeJS.ProcessEnv;
  handoverFolder: string;
  socketArgs?: readonly string[];
  say?: (text: string) => void;
};

const MAX_SHOWN_AT_THE_END = 60;
const MAX_SESSIONS = 20;
const LOOK_MS = 100;
/** A terminal's own variables: those of the pane hold inside. */
const OF_THE_PANE = ["TMUX", "TMUX_PANE", "TERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "COLORTERM"];

/**
 * Starts `program script team --handover FILE` in a tmux session of its own and shows that here. Resolves with its exit status
 * once it has ended, with its last lines said again here; or with 0 when the person detached and it goes on.
 */
export async function openInOwnSession(options: Options): Promise<number> {
  const { sessionName, argv, cwd, env, handoverFolder, socketArgs = [], say = printLine } = options;
  const [program = "", script = "", ...rest] = argv;
  const client = new TmuxClient(socketArgs, env);
  const file = await writeHandover(handoverFolder, { argv: rest, cwd, env: defined(env) });
  let goesOn = false;
  try {
    const { session, name, ...lead } = await startLead(client, sessionName, cwd, [program, script, "team", "--handover", file]);
    const over = new AbortController();
    // A session that is gone has given the terminal back by itself.
    const watch = giveBackAtEnd(client, lead.pane, session, over.signal).catch(() => undefined);
    const attached = await attach(client, session);
    over.abort();
    await watch;
    const end = (await client.panes()).find((one) => one.id === lead.pane.id);
    if (!end) {
      say(`The tmux session "${name}" was closed before the lead had ended.`);
      return 1;
    }
    if (!end.isDead) {
      if (attached !== 0) {
        await client.run(["kill-session", "-t", session]);
        throw new UserError("tmux can't show a session in this terminal. Choose another backend, like --backend process.");
      }
      goesOn = true;
      say(`The team goes on without you. To see it again: ${["tmux", ...client.address()].join(" ")} attach -t '=${name}'`);
      return 0;
    }
    const { status, signal = 0 } = (await awaitStatus(client, end)) ?? end;
    say(await lastLines(client, end.id, MAX_SHOWN_AT_THE_END));
    await client.run(["kill-pane", "-t", end.id]);
    return status ?? 128 + signal;
  } finally {
    // Normally the inside has taken it by now.
    if (!goesOn) await rm(file, { force: true });
  }
}

/** For the inside: reads the file and removes it, since it holds keys. `env` is the pane's. */
export async function takeHandover(file: string, env: NodeJS.ProcessEnv): Promise<Handover> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if (isErrno(error, "ENOENT")) throw new UserError(`There is no handover file ${file}. Start the team with: roocode team "GOAL"`);
    throw error;
  }
  await rm(file, { force: true });
  const { argv, cwd, env: outer } = HandoverSchema.parse(JSON.parse(text));
  const own = Object.entries(defined(env)).filter(([name]) => OF_THE_PANE.includes(name));
  const passed = Object.entries(outer).filter(([name]) => !OF_THE_PANE.includes(name));
  return { argv, cwd, env: Object.fromEntries([...passed, ...own]) };
}

async function writeHandover(folder: string, handover: Handover): Promise<string> {
  const file = join(folder, `handover.${randomBytes(6).toString("hex")}.json`);
  await writeAtomic(file, JSON.stringify({ version: 1, ...handover }));
  return file;
}

async function startLead(client: TmuxClient, wanted: string, cwd: string, command: readonly string[]) {
  const { pane: id, ...session } = await makeSession(client, wanted, cwd);
  const printed = await client.run(
    // Its pane stays after the end until its status and its last lines are read.
    ["set-option", "-p", "-t", id, "remain-on-exit", "on"],
    ["respawn-pane", "-k", "-t", id, ...command],
    LIST_PANES,
  );
  const pane = readPanes(printed).find((one) => one.id === id);
  if (!pane) throw new Error(`The pane ${id} of the tmux session "${session.name}" was closed at once.`);
  return { ...session, pane };
}

async function makeSession(client: TmuxClient, wanted: string, cwd: string) {
  const size = ["-x", String(process.stdout.columns || 240), "-y", String(process.stdout.rows || 67)];
  for (let number = 1; ; number++) {
    const name = literal(number === 1 ? wanted : `${wanted}-${number}`);
    try {
      const printed = await client.run([
        ...["new-session", "-d", "-P", "-F", "#{pane_id} #{session_id} #{session_name}", "-s", name, "-n", "team"],
        ...[...size, "-c", safeFolder(cwd), ...hold()],
      ]);
      const [pane = "", session = "", ...nameInUse] = printed.trimEnd().split(" ");
      return { pane, session, name: nameInUse.join(" ") };
    } catch (error) {
      if (!(error instanceof TmuxError) || !error.message.includes("duplicate session") || number >= MAX_SESSIONS) throw error;
    }
  }
}

/** The end of the lead gives the terminal back. It is seen from its process: tmux itself may miss it. */
async function giveBackAtEnd(client: TmuxClient, pane: Pane, session: string, over: AbortSignal): Promise<void> {
  const startedAt = processStart(pane.pid);
  while (!over.aborted) {
    // Again and again: a lead that ends at once does so before the terminal is attached.
    if (startedAt === undefined || processStart(pane.pid) !== startedAt) await client.run(["detach-client", "-s", session]);
    await sleep(LOOK_MS);
  }
}

/** tmux takes the terminal over until the person detaches or the lead ends. */
function attach(client: TmuxClient, session: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn("tmux", [...client.argv(), "attach-session", "-t", session], { env: ownEnvironment(client.env), stdio: "inherit" });
    child.on("error", reject);
    child.on("exit", (code) => resolve(code ?? 1));
  });
}

function defined(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

function printLine(text: string): void {
  process.stdout.write(`${text}\n`);
}
