import { CreateElicitationResponse, type PermissionOption, type ToolCallUpdate } from "@agentclientprotocol/sdk";
import type { ToolUseBlock } from "../../protocol/message.ts";
import type { HumanAnswer, PermissionDecision, PermissionMode, PermissionRequest } from "../../protocol/permission.ts";
import type { SessionOptions } from "../../runtime/open-session.ts";
import { plainText } from "../../tools/bash/plain-text.ts";
import type { PlanAnswer } from "../../tools/builtin/exit-plan-mode.ts";
import { proposedDiffs } from "./diffs.ts";
import type { Editor } from "./editor.ts";
import { kindOf, textContent, toolCall } from "./tool-call.ts";

const PLAN_OPTIONS: readonly (PermissionOption & { optionId: PermissionMode | "no" })[] = [
  { optionId: "default", name: "Yes, ask for each change", kind: "allow_once" },
  { optionId: "acceptEdits", name: "Yes, edits need no asking", kind: "allow_always" },
  { optionId: "no", name: "No, plan on", kind: "reject_once" },
];

/** What a session asks the person, put to the editor. */
export class Questions {
  readonly #editor: Editor;
  readonly #cwd: string;
  readonly #sessionId: () => string;
  /** Calls without a result. */
  readonly #calls = new Map<string, ToolUseBlock>();
  #asked = 0;

  constructor(editor: Editor, cwd: string, sessionId: () => string) {
    this.#editor = editor;
    this.#cwd = cwd;
    this.#sessionId = sessionId;
  }

  opened(call: ToolUseBlock): void {
    this.#calls.set(call.id, call);
  }

  closed(call: ToolUseBlock): void {
    this.#calls.delete(call.id);
  }

  /** `rule`: what "always" would write; not offered without one. */
  async permission(
    request: PermissionRequest,
    decision: PermissionDecision,
    rule: string | undefined,
    signal: AbortSignal,
  ): Promise<HumanAnswer | undefined> {
    const { call } = request;
    const reason = decision.detail ? `${decision.reason}\n\n${decision.detail}` : decision.reason;
    const shown = call ? toolCall(call, this.#cwd) : this.#strange(request);
    const content = [textContent(reason), ...(call ? await proposedDiffs(call, this.#cwd) : [])];
    const options: PermissionOption[] = [
      { optionId: "yes", name: "Allow once", kind: "allow_once" },
      ...(rule === undefined ? [] : [{ optionId: "always", name: `Always allow ${rule}`, kind: "allow_always" } as const]),
      { optionId: "no", name: "Reject", kind: "reject_once" },
    ];
    const chosen = await this.#editor.choose(this.#sessionId(), { ...shown, content }, options, signal);
    return chosen === "yes" || chosen === "no" || (chosen === "always" && rule !== undefined) ? chosen : undefined;
  }

  async plan(plan: string, file: string, signal: AbortSignal): Promise<PlanAnswer | undefined> {
    const shown = { ...this.#about("ExitPlanMode", `Plan: ${file}`), content: [textContent(plan)] };
    const chosen = await this.#editor.choose(this.#sessionId(), shown, PLAN_OPTIONS, signal);
    if (chosen === "no") return { feedback: "No: plan on. They did not say what to change; ask them." };
    return chosen === "default" || chosen === "acceptEdits" ? { mode: chosen } : undefined;
  }

  /** Answers to choose from are offered as options; a free answer needs an editor that has forms. */
  readonly user: SessionOptions["askUser"] = async (question, options, signal) => {
    const sessionId = this.#sessionId();
    if (options.length > 0) {
      const offered = options.map((name, index): PermissionOption => ({ optionId: `answer-${index}`, name, kind: "allow_once" }));
      const none: PermissionOption = { optionId: "none", name: "None of these", kind: "reject_once" };
      const chosen = await this.#editor.choose(sessionId, this.#about("AskUserQuestion", question), [...offered, none], signal);
      if (chosen === "none") return "None of these.";
      return options[offered.findIndex(({ optionId }) => optionId === chosen)];
    }
    if (!this.#editor.hasForms) return undefined;
    const properties = { answer: { type: "string", title: "Answer" } } as const;
    const requestedSchema = { type: "object" as const, properties, required: ["answer"] };
    const filled = await this.#editor.fill({ mode: "form", sessionId, message: question, requestedSchema }, signal);
    const answer = filled && CreateElicitationResponse.isAccept(filled) ? filled.content?.answer : undefined;
    return typeof answer === "string" ? answer : undefined;
  };

  /** A form of an MCP server, as it is; the editor says whose it is by the message. */
  readonly ofServer: NonNullable<SessionOptions["elicit"]> = async (server, { message, requestedSchema }, signal) => {
    const words = `The MCP server "${plainText(server)}" asks: ${plainText(message).trim()}`;
    const form = { mode: "form", sessionId: this.#sessionId(), message: words, requestedSchema } as const;
    const filled = await this.#editor.fill(form, signal);
    if (!filled || !CreateElicitationResponse.isAccept(filled)) return { action: filled?.action === "decline" ? "decline" : "cancel" };
    return { action: "accept", content: { ...filled.content } };
  };

  /** The open call of a tool that asks by itself. */
  #about(tool: string, title: string): ToolCallUpdate {
    const call = [...this.#calls.values()].findLast(({ name }) => name === tool);
    return { toolCallId: call?.id ?? this.#nextId(), title, kind: kindOf(tool), status: "pending" };
  }

  /** Of an agent whose calls the editor is not told of: a member of a team. */
  #strange({ agent, tool, access }: PermissionRequest): ToolCallUpdate {
    return { toolCallId: this.#nextId(), title: `${agent}: ${tool}(${access.subject})`, kind: kindOf(tool), status: "pending" };
  }

  #nextId(): string {
    this.#asked += 1;
    return `question-${this.#asked}`;
  }
}
