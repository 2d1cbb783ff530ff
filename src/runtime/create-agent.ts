import { resolve } from "node:path";
import { compactHistory } from "../engine/compact-history.ts";
import { type LoopOptions, runLoop } from "../engine/loop.ts";
import type { Checkpoints } from "../memory/checkpoints/checkpoints.ts";
import { spill } from "../memory/spill.ts";
import type { Agent, AgentEvent, AgentInput, AgentSpec, Pending } from "../protocol/agent.ts";
import type { Compactor, ContextReport } from "../protocol/memory.ts";
import type { AssistantMessage, Message, ToolUseBlock } from "../protocol/message.ts";
import type { Prices, ToolSpec } from "../protocol/model.ts";
import type { Authorize } from "../protocol/permission.ts";
import type { Session } from "../protocol/session.ts";
import type { Access, ToolResult } from "../protocol/tool.ts";
import type { AgentHooks } from "./agent-hooks.ts";
import { AgentTools } from "./agent-tools.ts";
import { joinReminders } from "./join-reminders.ts";
import { record } from "./record.ts";
import type { Spending } from "./spending.ts";

/** What a model brings with it; another one may take its place between two runs. */
export type ModelInUse = {
  client: LoopOptions["model"];
  id: string;
  maxTokens: number;
  /** Unless it is false. */
  hasVision?: boolean;
  compactor?: Compactor;
  /** By model id: a fallback model has its own. */
  pricesOf: (model: string) => Prices | undefined;
};

export type AgentParts = {
  model: ModelInUse;
  authorize: Authorize;
  session: Session;
  spending: Spending;
  /** Large results go here. */
  spillFolder: string;
  hooks?: AgentHooks | undefined;
  mend?: LoopOptions["mend"];
  overBudget?: LoopOptions["overBudget"];
  /** Of an agent whose steps can be undone; opened with the first call that may change files. */
  checkpoints?: (() => Promise<Checkpoints>) | undefined;
  /** Of a sub-agent: the turn of the conversation whose checkpoints these are. */
  checkpointTurn?: (() => number) | undefined;
  /** How many messages of the person the session holds. */
  turns?: number;
  onRewind?: () => void;
  onRunEnd?: (() => void) | undefined;
  /** `settle` after each round; `news` of its background jobs go with the next request. */
  shell?: { settle(): void; news(): string | undefined };
  /** Of a session that goes on: sent again as they were. */
  toolSpecs?: readonly ToolSpec[];
  /** In the place of `spec.tools` and `toolSpecs`, where more tools may join later. */
  tools?: AgentTools;
  resolve?: LoopOptions["runTool"]["resolve"];
};

/** An agent whose conversation the person can look at and turn. Nothing of this may be called while a run goes on. */
export type SessionAgent = Agent & {
  readonly history: readonly Message[];
  /** How many messages of the person there were. */
  readonly turns: number;
  /** A run that answers the history as it stands: its last message is the user's. */
  goOn(signal: AbortSignal): AsyncIterable<AgentEvent>;
  compact(focus: string | undefined, signal: AbortSignal): AsyncIterable<AgentEvent>;
  report(): ContextReport | undefined;
  useModel(model: ModelInUse): void;
  /** Goes back to the history before this turn; the file keeps what was. */
  rewind(history: readonly Message[], turn: number): Promise<void>;
};

/**
 * Joins model, tools, permission, hooks and session into one Agent. What the loop yields is in the session's file before it
 * is passed on. Runs of one agent share its history and come one after another.
 */
export function createAgent(spec: AgentSpec, parts: AgentParts): SessionAgent {
  const { session, spending } = parts;
  const history = [...spec.history];
  const { hooks } = parts;
  const news = () => joinReminders(parts.shell?.news(), hooks?.takeContext());
  const tools = parts.tools ?? new AgentTools({ tools: spec.tools, sent: parts.toolSpecs });
  let { model } = parts;
  let turns = parts.turns ?? 0;
  let checkpoints: Checkpoints | undefined;
  const checkpointTurn = parts.checkpointTurn ?? (() => turns);
  const base = {
    system: spec.system,
    toolSpecs: tools.sent,
    maxTurns: spec.maxTurns,
    history,
    pending: async () => withNews(await spec.pending?.(), news()),
    halted: hooks?.halted,
    beforeEnd: hooks?.beforeEnd,
    mend: parts.mend,
    overBudget: parts.overBudget,
    runTool: {
      agent: spec.name,
      cwd: spec.cwd,
      tools: tools.callable,
      resolve: parts.resolve,
      authorize: parts.authorize,
      ...(hooks ? { fireHook: hooks.fire } : {}),
      beforeChange: async ({ kind, paths = [] }: Access) => {
        // What a call does to the world must not outlive the record of it. A call that only looks need not wait for the disk.
        session.sync();
        checkpoints ??= await parts.checkpoints?.();
        await checkpoints?.before(checkpointTurn(), kind === "write" ? paths.map((path) => resolve(spec.cwd, path)) : []);
      },
      shrink: async (...[call, result, maxCharacters]: Parameters<LoopOptions["runTool"]["shrink"]>) => {
        const shown = model.hasVision === false ? await withoutImages(parts.spillFolder, call, result) : result;
        return spill(parts.spillFolder, call, shown, maxCharacters);
      },
    },
  };

  async function* kept(events: AsyncIterable<AgentEvent>, input?: AgentInput): AsyncGenerator<AgentEvent> {
    const before = spending.cost;
    for await (const event of events) {
      const priced = spending.priced(event, model, before);
      const isInput = event.type === "message" && event.message === input?.message;
      await record(session, priced, history, isInput ? turns : undefined);
      // Beside the next model call: who changes files next waits for it.
      if (event.type === "round_end") {
        void checkpoints?.after(checkpointTurn());
        parts.shell?.settle();
      }
      yield priced;
    }
    session.sync();
    await checkpoints?.after(checkpointTurn());
  }

  const inLoop = () => ({ model: model.client, modelId: model.id, maxTokens: model.maxTokens, compactor: model.compactor });

  return {
    history,
    get turns() {
      return turns;
    },
    run(given: AgentInput, signal: AbortSignal) {
      hooks?.begin();
      const input = told(given, news());
      turns += 1;
      return withEnd(kept(runLoop({ ...base, ...inLoop() }, input, signal), input), parts.onRunEnd);
    },
    goOn(signal) {
      hooks?.begin();
      return withEnd(kept(runLoop({ ...base, ...inLoop() }, undefined, signal)), parts.onRunEnd);
    },
    compact(focus, signal) {
      return kept(compactByHand(history, model, focus, signal));
    },
    report: () => model.compactor?.report(history),
    useModel(next) {
      model = next;
    },
    async rewind(earlier, turn) {
      history.splice(0, history.length, ...earlier);
      turns = turn - 1;
      parts.onRewind?.();
      await session.append({ type: "rewind", at: new Date().toISOString(), history: [...history], turn });
    },
  };
}

async function* withEnd(events: AsyncIterable<AgentEvent>, onEnd: (() => void) | undefined): AsyncGenerator<AgentEvent> {
  try {
    yield* events;
  } finally {
    onEnd?.();
  }
}

function withNews(pending: Pending | undefined, news: string | undefined): Pending | undefined {
  if (news === undefined) return pending;
  return { mail: [], ...pending, reminder: pending?.reminder ? `${pending.reminder}\n\n${news}` : news };
}

function told(input: AgentInput, news: string | undefined): AgentInput {
  if (news === undefined) return input;
  return { ...input, message: { ...input.message, content: [...input.message.content, { type: "text", text: news }] } };
}

/** Between two turns the summary stands answered: the next message of the person must not meet another one of the user. */
async function* compactByHand(
  history: Message[],
  { compactor, id }: ModelInUse,
  focus: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<AgentEvent> {
  if (history.length === 0 || !compactor) return yield { type: "notice", text: "There is nothing to compact yet." };
  const outcome = yield* compactHistory(history, compactor, { trigger: "manual", focus }, signal);
  if (outcome.refusal !== undefined) return yield { type: "notice", text: outcome.refusal };
  const answer: AssistantMessage = { role: "assistant", provider: "", model: id, content: [{ type: "text", text: "I have the summary." }] };
  history.push(answer);
  yield { type: "message", message: answer };
}

async function withoutImages(folder: string, call: ToolUseBlock, result: ToolResult): Promise<ToolResult> {
  if (result.content.every((block) => block.type === "text")) return result;
  const { spillImages } = await import("../memory/spill-images.ts");
  return spillImages(folder, call, result);
}
