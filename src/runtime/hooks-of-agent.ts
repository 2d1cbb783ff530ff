import { adviceOf, type HookAgent, type Hooks } from "../protocol/hook.ts";
import type { AskHuman, BeforeAsk } from "../protocol/permission.ts";
import { AgentHooks } from "./agent-hooks.ts";

/** Of a sub-agent, the prompt that it was started with. */
export type AgentHooksRequest = Pick<HookAgent, "agentType" | "team" | "worktree" | "task" | "isOfHook"> & {
  hooks: Hooks;
  subagent?: { prompt: string };
};

export type HooksOfAgent = {
  own: AgentHooks;
  /** Hooks of permission_request may answer before anybody is asked. */
  beforeAsk: BeforeAsk;
  /** The same question; hooks hear that a person is waited for. */
  notifying(ask: AskHuman | undefined): AskHuman | undefined;
  start(isResumed: boolean): Promise<void>;
  end(turns: number): Promise<void>;
};

type Parts = {
  request: { name: string; sessionId: string; sessionPath: string; mode: () => string };
  shell: { cwd: string };
  note: (text: string) => void;
};

/** The process's hooks in the name of one conversation, at the places that runtime knows: its start and end, and questions to the person. */
export function hooksOfAgent({ hooks, subagent, ...agent }: AgentHooksRequest, { request, shell, note }: Parts): HooksOfAgent {
  const never = new AbortController().signal;
  const own = new AgentHooks(
    hooks.of({
      ...agent,
      agent: request.name,
      session: request.sessionId,
      transcript: request.sessionPath,
      cwd: () => shell.cwd,
      mode: request.mode,
    }),
    subagent ? "subagent_stop" : "stop",
    note,
  );
  return {
    own,
    async beforeAsk({ tool, access }, { reason, sticky }, signal) {
      const event = { event: "permission_request", tool, subject: access.subject, reason, isSticky: sticky } as const;
      return adviceOf(await own.fire(event, signal));
    },
    notifying: (ask) =>
      ask &&
      ((given, decision, signal) => {
        // Beside the question, which must not wait for it.
        void own.fire(
          { event: "notification", kind: "permission", message: `${given.tool}(${given.access.subject}): ${decision.reason}` },
          never,
        );
        return ask(given, decision, signal);
      }),
    async start(isResumed) {
      if (subagent) await own.fire({ event: "subagent_start", prompt: subagent.prompt }, never);
      else await own.fire({ event: "session_start", source: isResumed ? "resume" : "new" }, never);
    },
    async end(turns) {
      if (!subagent) await own.fire({ event: "session_end", turns }, never);
    },
  };
}
