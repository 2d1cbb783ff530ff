import { openSession } from "../../runtime/open-session.ts";
import { type GlobalFlags, readSurroundings } from "../../runtime/surroundings.ts";
import { outliveOutput } from "../lost-output.ts";
import { PlainScreen } from "../plain.ts";

export type ChatArguments = GlobalFlags & {
  prompt: string | undefined;
  maxTurns: number;
  resume?: string | undefined;
  mcpConfig?: readonly string[] | undefined;
};

const EXIT_WORDS = new Set(["/exit", "/quit"]);

/** Bare `roocode`: a line REPL. Ctrl+C interrupts a run, or ends the session at the prompt; the session stays resumable. */
export async function chatCommand(args: ChatArguments): Promise<number> {
  outliveOutput();
  const screen = new PlainScreen({ input: process.stdin, output: process.stdout, isScreen: process.stdout.isTTY && !process.env.NO_COLOR });
  const surroundings = await readSurroundings(process.cwd(), process.env, args);
  await using session = await openSession(surroundings, {
    maxTurns: args.maxTurns,
    resume: args.resume,
    mcpConfig: args.mcpConfig,
    askHuman: async (request, decision, signal) =>
      screen.askPermission(request, decision, await session.permissions.alwaysRule(request, decision), signal),
    askUser: (question, options, signal) => screen.choose(question, options, signal),
  });
  for (const note of session.notes) screen.dim(note);
  screen.dim(`RooCode, model ${session.model}, mode ${session.mode}, session ${session.id}. /exit ends it.`);

  let running: AbortController | undefined;
  let ended = false;
  const onInterrupt = () => {
    if (running) running.abort();
    else {
      ended = true;
      screen.close();
    }
  };
  process.on("SIGINT", onInterrupt);
  try {
    for (let prompt = args.prompt ?? (await screen.ask("> ")); prompt !== undefined && !ended; prompt = await screen.ask("> ")) {
      if (EXIT_WORDS.has(prompt.trim())) break;
      if (prompt.trim() === "") continue;
      running = new AbortController();
      for await (const event of session.agent.run({ message: session.message(prompt) }, running.signal)) screen.event(event);
      running = undefined;
    }
  } finally {
    process.off("SIGINT", onInterrupt);
    screen.close();
  }
  screen.dim(`Go on later with: roocode --resume ${session.id}`);
  return 0;
}
