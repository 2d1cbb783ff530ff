import { type ContentBlock, type PromptResponse, RequestError, type SessionUpdate, type StopReason } from "@agentclientprotocol/sdk";
import type { AgentEvent, LoopComplete } from "../../protocol/agent.ts";
import { UserError } from "../../protocol/errors.ts";
import type { PermissionMode } from "../../protocol/permission.ts";
import type { GivenServers } from "../../runtime/mcp.ts";
import { type OpenedSession, openSession } from "../../runtime/open-session.ts";
import type { Surroundings } from "../../runtime/surroundings.ts";
import { endText } from "../print.ts";
import { availableCommands, refuseEditorsOwn } from "./commands.ts";
import type { Editor } from "./editor.ts";
import { Plan } from "./plan.ts";
import { type Prompt, readPrompt } from "./prompt.ts";
import { Questions } from "./questions.ts";
import { callUpdates, RunUpdates, said } from "./updates.ts";

export type SessionRequest = {
  surroundings: Surroundings;
  maxTurns: number;
  mcpConfig: readonly string[] | undefined;
  servers: GivenServers | undefined;
  /** Id of a session to go on with. */
  resume?: string;
};

/** One conversation of the editor. At its end what runs is stopped and saved. */
export class AcpSession implements AsyncDisposable {
  readonly #session: OpenedSession;
  readonly #editor: Editor;
  readonly #questions: Questions;
  #running: { abort: AbortController; ended: Promise<unknown> } | undefined;
  #toldMode: PermissionMode;
  #toldCommands = "";

  private constructor(session: OpenedSession, editor: Editor, questions: Questions) {
    this.#session = session;
    this.#editor = editor;
    this.#questions = questions;
    this.#toldMode = session.mode();
  }

  static async open(request: SessionRequest, editor: Editor): Promise<AcpSession> {
    const { surroundings, servers } = request;
    const { cwd } = surroundings;
    const { note } = editor;
    let id: string | undefined;
    const questions = new Questions(editor, cwd, () => id ?? "");
    const tell = (update: SessionUpdate) => {
      // Before the session has a name nobody can be told of it.
      if (id !== undefined) editor.update(id, update).catch((error: unknown) => note(String(error)));
    };
    const plan = new Plan(tell);
    const nobody = () => undefined;
    const headless = (await import("../team-screen.ts")).headlessTeamScreen(note, nobody, nobody);
    const session = await openSession(surroundings, {
      maxTurns: request.maxTurns,
      resume: request.resume,
      mcpConfig: request.mcpConfig,
      mcpGiven: servers,
      askHuman: async (permissions, asked, decision, signal) =>
        questions.permission(asked, decision, await permissions.alwaysRule(asked, decision), signal),
      askUser: questions.user,
      approvePlan: (text, file, signal) => questions.plan(text, file, signal),
      ...(editor.hasForms ? { elicit: (...question) => questions.ofServer(...question) } : {}),
      onSubagentEvent: ({ label }, event) => {
        trackCalls(questions, event);
        for (const update of callUpdates(event, cwd, label)) tell(update);
      },
      teamScreen: () => ({
        ...headless,
        step: (step) => {
          headless.step(step);
          plan.step(step);
        },
        askHuman: (rule, asked, decision, signal) => questions.permission(asked, decision, rule, signal),
        askUser: questions.user,
      }),
      onProblem: note,
    });
    id = session.id;
    for (const text of session.notes) note(text);
    return new AcpSession(session, editor, questions);
  }

  get id(): string {
    return this.#session.id;
  }

  get path(): string {
    return this.#session.session.path;
  }

  get mode(): PermissionMode {
    return this.#session.mode();
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  async setMode(mode: PermissionMode): Promise<void> {
    this.#session.setMode(mode);
    await this.#tellMode();
  }

  cancel(): void {
    this.#running?.abort.abort();
  }

  /** `signal`: the request itself was cancelled. */
  async prompt(blocks: readonly ContentBlock[], signal: AbortSignal): Promise<PromptResponse> {
    if (this.#running)
      throw RequestError.invalidRequest(undefined, "a prompt runs in this session; wait for its end or send session/cancel first");
    const prompt = readPrompt(blocks, this.#session.surroundings.cwd);
    if (prompt.text.trim() === "" && prompt.images.length + prompt.attached.length === 0)
      throw RequestError.invalidParams(undefined, "the prompt is empty");
    const abort = new AbortController();
    const run = this.#run(prompt, AbortSignal.any([abort.signal, signal])).finally(() => {
      this.#running = undefined;
    });
    // Its failure is told to who asked; here it only matters that it is over.
    this.#running = { abort, ended: run.catch(() => undefined) };
    return { stopReason: await run };
  }

  async #run(prompt: Prompt, signal: AbortSignal): Promise<StopReason> {
    const updates = new RunUpdates(this.#session.surroundings.cwd);
    let end: LoopComplete | undefined;
    try {
      for await (const event of await this.#events(prompt, signal)) {
        trackCalls(this.#questions, event);
        for (const update of updates.of(event)) await this.#tell(update);
        await this.#tellMode();
        if (event.type === "loop_complete") end = event;
      }
    } catch (error) {
      // A command that is none, a hook that refuses the words: a sentence for the person.
      if (!(error instanceof UserError)) throw error;
      await this.#tell(said(error.message));
    }
    await this.#tellUsage();
    await this.#tellCommands();
    if (signal.aborted) return "cancelled";
    return end ? this.#stopReason(end) : "end_turn";
  }

  async #events({ text, attached, images }: Prompt, signal: AbortSignal): Promise<AsyncIterable<AgentEvent>> {
    if (text.trimStart().startsWith("/")) {
      refuseEditorsOwn(text);
      if (attached.length + images.length === 0)
        return (await import("../slash/print-command.ts")).slashRun(text, text, this.#session, signal);
    }
    const { content } = await this.#session.message(text, signal);
    const words = content.filter((block) => block.type !== "text" || block.text !== "");
    const beside = attached.map((one) => ({ type: "text", text: one }) as const);
    return this.#session.runToEnd({ message: { role: "user", content: [...words, ...beside, ...images] } }, signal);
  }

  async #stopReason(end: LoopComplete): Promise<StopReason> {
    switch (end.reason) {
      case "end_turn":
        // What a command of RooCode's own has to say was not streamed.
        if (end.turns === 0 && end.text !== "") await this.#tell(said(end.text));
        return "end_turn";
      case "max_turns":
        await this.#tell(said(`\n\n${endText(end)}`));
        return "max_turn_requests";
      case "refusal":
        return "refusal";
      case "aborted":
        return "cancelled";
      case "error": {
        const data = { kind: end.error?.kind ?? "unknown" };
        if (end.error?.kind === "auth") throw RequestError.authRequired(data, endText(end));
        throw RequestError.internalError(data, endText(end));
      }
      case "unknown_tools":
      case "repeating":
      case "budget":
      case "hook":
        await this.#tell(said(`\n\n${endText(end)}`));
        return "end_turn";
    }
  }

  /** After the answer to the request that opened it: before, the editor does not know the session. */
  async tellOpened(): Promise<void> {
    if (this.#editor.capabilities?.session?.notices)
      for (const title of this.#session.notes) await this.#tell({ sessionUpdate: "notice", severity: "info", title });
    await this.#tellCommands();
  }

  async #tellCommands(): Promise<void> {
    const commands = await availableCommands(this.#session);
    const text = JSON.stringify(commands);
    if (text === this.#toldCommands) return;
    this.#toldCommands = text;
    await this.#tell({ sessionUpdate: "available_commands_update", availableCommands: commands });
  }

  async #tellMode(): Promise<void> {
    const mode = this.#session.mode();
    if (mode === this.#toldMode) return;
    this.#toldMode = mode;
    await this.#tell({ sessionUpdate: "current_mode_update", currentModeId: mode });
  }

  async #tellUsage(): Promise<void> {
    const report = this.#session.agent.report();
    if (!report) return;
    const { spending } = this.#session;
    const cost = spending.isPriced ? { cost: { amount: spending.cost, currency: "USD" } } : {};
    await this.#tell({ sessionUpdate: "usage_update", used: Math.round(report.used), size: Math.round(report.window), ...cost });
  }

  #tell(update: SessionUpdate): Promise<void> {
    return this.#editor.update(this.id, update);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cancel();
    await this.#running?.ended;
    await this.#session[Symbol.asyncDispose]();
  }
}

function trackCalls(questions: Questions, event: AgentEvent): void {
  if (event.type === "tool_use") questions.opened(event.call);
  if (event.type === "tool_result") questions.closed(event.call);
}
