import { UserError } from "../../protocol/errors.ts";
import { openSession } from "../../runtime/open-session.ts";
import { type GlobalFlags, readSurroundings } from "../../runtime/surroundings.ts";
import { outliveOutput } from "../lost-output.ts";
import { type OutputFormat, printRun } from "../print.ts";

export type PrintArguments = GlobalFlags & {
  prompt: string | undefined;
  outputFormat: OutputFormat;
  maxTurns: number;
  resume?: string | undefined;
  mcpConfig?: readonly string[] | undefined;
};

/** `roocode -p`: runs to completion, never asks; the answer on stdout, all else on stderr. Gives the exit code. */
export async function printCommand(args: PrintArguments): Promise<number> {
  const prompt = args.prompt ?? (await readAll(process.stdin));
  if (prompt.trim() === "") throw new UserError('There is no prompt. Give one: roocode -p "question", or on standard input.');
  const write = (output: "stdout" | "stderr", text: string) => {
    outliveOutput();
    process[output].write(text);
  };
  const note = (text: string) => write("stderr", `${text}\n`);
  const surroundings = await readSurroundings(process.cwd(), process.env, args);
  let open = 0;
  await using session = await openSession(surroundings, {
    maxTurns: args.maxTurns,
    resume: args.resume,
    mcpConfig: args.mcpConfig,
    onProblem: note,
    askUser: async () => {
      open += 1;
      return undefined;
    },
  });
  for (const text of session.notes) note(text);
  const interrupt = new AbortController();
  const onSignal = () => interrupt.abort();
  process.once("SIGINT", onSignal);
  process.once("SIGTERM", onSignal);
  // Without await the session would be closed before the run has ended.
  return await printRun(session.agent.run({ message: await session.message(prompt) }, interrupt.signal), {
    format: args.outputFormat,
    sessionId: session.id,
    agent: "main",
    model: session.model(),
    cwd: process.cwd(),
    permissionMode: session.mode(),
    tools: session.tools.map((tool) => tool.name),
    mcpServers: session.mcpServers,
    write: (text) => write("stdout", text),
    note,
    openQuestions: () => open,
    unsaved: () => session.session.unsaved,
  });
}

async function readAll(input: NodeJS.ReadStream): Promise<string> {
  if (input.isTTY) return "";
  let text = "";
  for await (const chunk of input.setEncoding("utf8")) text += chunk;
  return text;
}
