import type { HookAgent, HookEvent, RunHookAgent } from "../../protocol/hook.ts";
import { broken, type HookAnswer, readAnswer } from "./answer.ts";
import type { CommandHooks, RanCommand } from "./command-hooks.ts";
import { EVENTS } from "./events.ts";
import { postEvent } from "./http-hook.ts";
import { type Ground, payloadOf, variablesOf } from "./payload.ts";
import type { Hook } from "./schema.ts";

export type HookMeans = {
  ground: Ground;
  env: NodeJS.ProcessEnv;
  commands: Pick<CommandHooks, "run">;
  /** Absent where no sub-agent can be run. */
  runAgent: () => RunHookAgent | undefined;
};

const MAX_LINE = 300;

/** One hook's action to its end. Never throws: what goes wrong is a remark. */
export async function runHook(hook: Hook, event: HookEvent, agent: HookAgent, means: HookMeans, signal: AbortSignal): Promise<HookAnswer> {
  const { action, timeoutMs } = hook;
  const { ground } = means;
  const payload = () => JSON.stringify(payloadOf(event, agent));
  if (signal.aborted) return { remarks: [] };
  switch (action.type) {
    case "prompt":
      return { context: filled(action.prompt, variablesOf(event, agent, ground).variables), remarks: [] };
    case "command": {
      const { variables, tooLong } = variablesOf(event, agent, ground);
      // A check that looks at the variable would find nothing in it to refuse.
      if (tooLong.length > 0 && isGate(hook, event)) return refused(`${tooLong.join(", ")} can't be handed to it: too long`);
      const folders = [agent.cwd(), ground.root, ground.projectRoot];
      const ran = await means.commands.run({ command: action.command, payload: payload(), variables, folders, timeoutMs }, signal);
      return answerOf(ran, event, hook);
    }
    case "http":
      return underLimit(timeoutMs, signal, async (limited) => {
        const { status, body } = await postEvent(action, payload(), means.env, limited);
        if (status >= 200 && status < 300) return readAnswer(body, event);
        return broken(`the server answered ${status}`);
      });
    case "agent": {
      const runAgent = means.runAgent();
      if (agent.isOfHook) return { remarks: [] };
      if (!runAgent) return broken("no sub-agent can be run here");
      return underLimit(timeoutMs, signal, async (limited) => {
        const prompt = `${filled(action.prompt, variablesOf(event, agent, ground).variables)}\n\nThe event:\n${payload()}`;
        const words = await runAgent({ prompt, description: action.description }, limited);
        const answer = readAnswer(words, event);
        return isSilent(answer) && words.trim() !== "" ? { ...answer, context: words.trim() } : answer;
      });
    }
  }
}

function answerOf({ end, stdout, stderr }: RanCommand, event: HookEvent, hook: Hook): HookAnswer {
  const words = firstLine(stderr);
  const { timeoutMs } = hook;
  switch (end.type) {
    case "exit":
      if (end.code === 0) return readAnswer(stdout, event);
      if (end.code === 2) return refusal(stdout, stderr, event);
      return broken(`it failed with exit code ${end.code}${words === "" ? "" : `: ${words}`}`);
    case "signal":
      return broken(`it was ended by ${end.name}`);
    case "timeout":
      return broken(`it was stopped after ${timeoutMs / 1_000} s, with all that it had started`);
    case "flood":
      return broken("it printed without end and was stopped");
    case "interrupted":
      return { remarks: [] };
    case "unstarted":
      // The agent itself can bring that about: by a full disk, or a call that is too large.
      return isGate(hook, event) ? refused(`it could not be started: ${end.reason}`) : broken(`it could not be started: ${end.reason}`);
  }
}

/** Where a hook that never ran must not let the call pass. */
function isGate({ isAsync }: Hook, { event }: HookEvent): boolean {
  return event === "pre_tool_use" && !isAsync;
}

function refused(why: string): HookAnswer {
  return { remarks: [`${why}. The call is denied`], block: `The hook never ran: ${why}.` };
}

/** Exit code 2: the reason is on standard error, or in an answer beside it. */
function refusal(stdout: string, stderr: string, event: HookEvent): HookAnswer {
  const answer = readAnswer(stdout, event);
  const reason = [stderr.trim(), answer.block, answer.reason, answer.context, stdout.trim()].find(
    (text) => text !== undefined && text !== "",
  );
  return { remarks: answer.remarks, ...(answer.halt === undefined ? {} : { halt: answer.halt }), block: reason ?? "It gave no reason." };
}

async function underLimit(timeoutMs: number, signal: AbortSignal, run: (limited: AbortSignal) => Promise<HookAnswer>): Promise<HookAnswer> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), timeoutMs);
  try {
    return await run(AbortSignal.any([signal, limit.signal]));
  } catch (error) {
    if (signal.aborted) return { remarks: [] };
    if (limit.signal.aborted) return broken(`it was stopped after ${timeoutMs / 1_000} s`);
    return broken(`it failed: ${error instanceof Error ? firstLine(error.message) : String(error)}`);
  } finally {
    clearTimeout(timer);
  }
}

function isSilent({ remarks, ...outcome }: HookAnswer): boolean {
  return remarks.length === 0 && Object.keys(outcome).length === 0;
}

/** Words for a model: here a variable is put into the text. One without a value stays as it is written. */
function filled(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replaceAll(
    /\$(?:\{(\w+)\}|(\w+))/g,
    (whole, braced: string | undefined, bare: string | undefined) => variables[braced ?? bare ?? ""] ?? whole,
  );
}

function firstLine(text: string): string {
  return text.trim().split("\n", 1)[0]?.slice(0, MAX_LINE) ?? "";
}

/** Whether a refusal has an effect. */
export function canBlock(event: HookEvent): boolean {
  return EVENTS[event.event].blocking !== undefined;
}
