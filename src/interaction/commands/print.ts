import type { AgentEvent } from "../../protocol/agent.ts";
import { UserError } from "../../protocol/errors.ts";
import { escapeSystemTags } from "../../protocol/system-tags.ts";
import { type OpenedSession, openSession } from "../../runtime/open-session.ts";
import { type GlobalFlags, readSurroundings } from "../../runtime/surroundings.ts";
import { jsonLine } from "../json-line.ts";
import { onLostReader, outliveOutput } from "../lost-output.ts";
import { readPiped } from "../piped-input.ts";
import { failedLine, type OutputFormat, type PrintOptions, printRun, printSubagent } from "../print.ts";
import { headlessTeamScreen } from "../team-screen.ts";

export type PrintArguments = GlobalFlags & {
  prompt: string | undefined;
  outputFormat: OutputFormat;
  isStreamInput?: boolean;
  includePartial?: boolean;
  /** Permission questions go to the program in front, as control requests. */
  asksOverStream?: boolean;
  maxTurns: number;
  resume?: string | undefined;
  mcpConfig?: readonly string[] | undefined;
  isCoordinator?: boolean | undefined;
};

type Run = (events: AsyncIterable<AgentEvent>, isLater?: boolean) => Promise<number>;

/** As a shell reports them. */
const SIGNAL_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };
/** How long a pipe may be silent before the prompt goes out without it. */
const SILENT_PIPE_MS = 3_000;

/** `roocode -p`: runs to completion, never asks; the answer on stdout, all else on stderr. Gives the exit code. */
export async function printCommand(args: PrintArguments): Promise<number> {
  const output = new PrintOutput();
  let sessionId = "";
  try {
    return await printSession(args, output, (id) => {
      sessionId = id;
    });
  } catch (error) {
    // Programs look for how it ended on stdout; the last line on stderr is for people.
    if (args.outputFormat === "json" || args.outputFormat === "stream-json") {
      const kind = error instanceof UserError ? "configuration" : "internal";
      output.write("stdout", failedLine(sessionId, kind, error instanceof Error ? error.message : String(error)));
    }
    throw error;
  }
}

async function printSession(args: PrintArguments, output: PrintOutput, onId: (id: string) => void): Promise<number> {
  if (args.isStreamInput) requireStreams(args);
  using piped = args.isStreamInput ? undefined : readPiped(args.prompt === undefined ? undefined : SILENT_PIPE_MS);
  const given = args.prompt ?? (await piped?.text) ?? "";
  if (!args.isStreamInput && given.trim() === "")
    throw new UserError('There is no prompt. Give one: roocode -p "question", or on standard input.');
  // In the list of processes a prompt is read by others, and `pkill -f` of words in it would end this process.
  if (args.prompt !== undefined) process.title = "roocode";
  const interrupt = new AbortController();
  let signalled = 0;
  // A terminal that closes sends SIGHUP more than once; of the others the second time ends at once. The listener stays: the lock's
  // library, once a worktree was made, ends a process that nobody else listens for.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(signal, () => {
      if (signalled > 0 && signal !== "SIGHUP") process.exit(SIGNAL_CODES[signal]);
      signalled ||= SIGNAL_CODES[signal];
      interrupt.abort();
    });
  output.onLost(() => interrupt.abort());
  const surroundings = await readSurroundings(process.cwd(), process.env, args);
  let open = 0;
  let options: PrintOptions | undefined;
  const questions = args.asksOverStream
    ? new (await import("../stream-questions.ts")).StreamQuestions((value) => output.write("stdout", jsonLine(value)))
    : undefined;
  await using session = await openSession(surroundings, {
    maxTurns: args.maxTurns,
    resume: args.resume,
    mcpConfig: args.mcpConfig,
    onProblem: output.note,
    interrupt: interrupt.signal,
    askUser: async () => {
      open += 1;
      return undefined;
    },
    ...(questions
      ? {
          askHuman: async (permissions, request, decision, signal) =>
            questions.permission(request, decision, await permissions.alwaysRule(request, decision), signal),
        }
      : {}),
    approvePlan: async (plan, file, signal) => {
      const answer = await questions?.plan(plan, signal);
      if (answer) return answer;
      open += 1;
      output.note(`A plan waits for your approval: ${file}`);
      return undefined;
    },
    ...(args.isCoordinator ? { isCoordinator: true } : {}),
    teamScreen: () =>
      headlessTeamScreen(
        output.note,
        () => undefined,
        () => {
          open += 1;
        },
      ),
    // What hooks of the start have done stands before the output begins.
    onSubagentEvent: (agent, event) => {
      questions?.see(event);
      if (options) printSubagent(event, agent, options);
    },
  });
  onId(session.id);
  for (const text of session.notes) output.note(text);
  const printing: PrintOptions = {
    format: args.outputFormat,
    sessionId: session.id,
    agent: "main",
    model: session.model(),
    cwd: process.cwd(),
    permissionMode: session.mode(),
    tools: session.tools.sent.map((tool) => tool.name),
    mcpServers: session.mcp?.status() ?? [],
    write: (text) => output.write("stdout", text),
    note: output.note,
    openQuestions: () => open,
    partial: args.includePartial ? new (await import("../partial-messages.ts")).PartialMessages(session.model()) : undefined,
    unsaved: () => session.session.unsaved,
  };
  options = printing;
  const run: Run = (events, isLater = false) => {
    open = 0;
    return printRun(questions ? questions.watch(events) : events, { ...printing, isLater });
  };
  // Without await the session would be closed before the run has ended.
  const code = args.isStreamInput
    ? await (await import("./print-stream.ts")).printMessages(session, run, printing, interrupt.signal, questions)
    : await run(await promptRun(session, given, args.prompt === undefined ? "" : await piped?.text, output, interrupt.signal));
  return code === SIGNAL_CODES.SIGINT && signalled > 0 ? signalled : code;
}

/** What was piped stands behind the prompt that was given; it is data, often of others, and has no voice of the system. */
async function promptRun(
  session: OpenedSession,
  prompt: string,
  piped: string | undefined,
  output: PrintOutput,
  signal: AbortSignal,
): Promise<AsyncIterable<AgentEvent>> {
  if (piped === undefined)
    output.note(
      `Standard input said nothing for ${SILENT_PIPE_MS / 1000} s: the prompt goes out without it. Give </dev/null to skip the wait.`,
    );
  const words = piped?.trim() ? `${prompt}\n\n${escapeSystemTags(piped)}` : prompt;
  if (prompt.trimStart().startsWith("/")) return (await import("../slash/print-command.ts")).slashRun(prompt, words, session, signal);
  return session.runToEnd({ message: await session.message(words, signal) }, signal);
}

function requireStreams({ prompt, outputFormat }: PrintArguments): void {
  if (prompt !== undefined) throw new UserError("--input-format stream-json takes its messages from standard input: leave the prompt out.");
  if (outputFormat !== "stream-json" && outputFormat !== "events")
    throw new UserError("--input-format stream-json needs --output-format stream-json or events.");
}

/** Opened with the first word: the streams cost CPU that the way to the first request need not pay. */
class PrintOutput {
  #onLost: (() => void) | undefined;
  #isOpen = false;
  #isLost = false;

  /** Told when nobody reads the answer any more. */
  onLost(end: () => void): void {
    this.#onLost = end;
  }

  readonly note = (text: string): void => this.write("stderr", `${text}\n`);

  write(to: "stdout" | "stderr", text: string): void {
    if (!this.#isOpen) {
      this.#isOpen = true;
      outliveOutput();
      onLostReader(() => {
        this.#isLost = true;
        this.#onLost?.();
      });
    }
    if (!this.#isLost) process[to].write(text);
  }
}
