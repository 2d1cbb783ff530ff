import type { AgentEvent } from "../protocol/agent.ts";
import { UserError } from "../protocol/errors.ts";
import type { HumanAnswer, PermissionDecision, PermissionMode, PermissionRequest } from "../protocol/permission.ts";
import { resultText, type ToolResult } from "../protocol/tool.ts";
import { retryText } from "../team/agent-presence.ts";
import type { PlanAnswer } from "../tools/builtin/exit-plan-mode.ts";
import { compactedText } from "./compacted-text.ts";
import type { Earlier } from "./earlier-messages.ts";
import { LineQuestions } from "./line-questions.ts";
import { numbered, type PickItem, pickedBy } from "./pick.ts";
import { endText } from "./print.ts";
import type { InputListener, Screen } from "./screen.ts";
import type { Terminal } from "./terminal.ts";
import { firstLine, shortInput, visible } from "./visible.ts";

const PLAN_MODES: readonly PermissionMode[] = ["default", "acceptEdits", "bypassPermissions"];
const PLAN_QUESTION =
  "Carry it out?\n  1. Yes, ask for each change\n  2. Yes, edits need no asking (acceptEdits)\n  3. Yes, nothing needs asking (bypassPermissions)\n  4. No, plan on; or say what to change";

/** Each is told as a step of the team, too. */
const TASK_CALLS = ["TaskCreate", "TaskUpdate"];
/** How far back a task's step may stand before the result that says the same. */
const MANY_LINES = 30;
/** Of what a tool shows. */
const MAX_LINES = 40;

/** Lines that a person reads, and questions by readline. Owns no agent state; several agents may write to one screen. */
export class PlainScreen implements Screen {
  readonly #terminal: Terminal;
  readonly #questions: LineQuestions;
  /** Text of a line whose end has not come yet, and how much of it stands on the screen. */
  #openLine = "";
  #shown = 0;
  #lastLine = "";
  /** Of calls that ran together the results come after all of them. */
  readonly #recent: string[] = [];
  readonly theme = undefined;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
    this.#questions = new LineQuestions(terminal);
  }

  line(text: string): void {
    this.#endLine();
    this.#questions.print(`${visible(text)}\n`);
    this.#remember(text);
  }

  dim(text: string): void {
    this.line(this.#terminal.isScreen ? `\x1b[2m${text}\x1b[22m` : text);
    this.#remember(text);
  }

  #remember(text: string): void {
    this.#lastLine = text;
    this.#recent.push(text);
    if (this.#recent.length > MANY_LINES) this.#recent.shift();
  }

  /** Such words stand on the screen already: as they were typed, or in the command line. */
  echo(): void {}

  /** A line for each. */
  earlier({ hidden, parts }: Earlier): void {
    if (hidden > 0) this.dim(`… ${hidden} earlier messages`);
    for (const part of parts) {
      if (part.type === "user") this.line(`> ${firstLine(part.text)}`);
      else if (part.type === "assistant") this.line(firstLine(part.text));
      else if (part.type === "call") this.dim(`● ${part.call.name}${shortInput(part.call.input)}`);
      else if (part.type === "note") this.dim(part.text);
    }
  }

  hint(text: string): void {
    this.dim(text);
  }

  prompt(giveWay: AbortSignal): Promise<string | undefined> {
    return this.ask("> ", giveWay, true);
  }

  imagesIn(): [] {
    return [];
  }

  /** Nothing stands on it any more; what is no screen keeps its lines. */
  clear(): void {
    this.#endLine();
    if (this.#terminal.isScreen) this.#terminal.output.write("\x1b[2J\x1b[3J\x1b[H");
  }

  /** Lets go of the input, so that the process can end. */
  close(): void {
    this.#endLine();
    this.#questions.close();
  }

  /** Draws one event; `who` stands before the lines of an agent that shares the screen. */
  event(event: AgentEvent, who = ""): void {
    const prefix = who === "" ? "" : `${who}: `;
    switch (event.type) {
      case "stream_text":
        if (who === "") {
          this.#stream(visible(event.text));
        }
        break;
      case "message":
        if (event.message.role === "assistant") {
          if (who === "") this.#endLine();
          else for (const block of event.message.content) if (block.type === "text") this.line(`${prefix}${block.text}`);
        }
        break;
      case "tool_use":
        this.dim(`${prefix}● ${event.call.name}${shortInput(event.call.input)}`);
        break;
      case "tool_result":
        this.#result(event.result, { isAlone: who === "", prefix, isTask: TASK_CALLS.includes(event.call.name) });
        break;
      case "retry":
        this.dim(`${prefix}${retryText(event)}`);
        break;
      case "attempt_reset":
      case "notice":
        this.dim(`${prefix}${event.type === "notice" ? event.text : event.reason}`);
        break;
      case "round_end":
        if (event.steering && who === "") this.dim(`→ ${firstLine(event.steering)}`);
        break;
      case "state":
        if (event.state === "compacting") this.dim(`${prefix}Making room: a summary takes the place of the conversation so far …`);
        break;
      case "compacted":
        this.dim(`${prefix}${compactedText(event)}`);
        break;
      case "loop_complete":
        if (event.reason !== "end_turn") this.line(`${prefix}${endText(event)}`);
        break;
      default:
        break;
    }
  }

  #result(result: ToolResult, { isAlone, prefix, isTask }: { isAlone: boolean; prefix: string; isTask: boolean }): void {
    const { display } = result;
    const said = isTask ? this.#recent : [this.#lastLine];
    if (result.isError) this.dim(`${prefix}  ✗ ${firstLine(resultText(result))}`);
    else if (display?.type === "diff" && isAlone) this.dim(indent(display.patch, "    "));
    // A team's step has said it already.
    else if (display?.type === "text" && said.includes(display.text)) return;
    else if (display?.type === "text" && isAlone) this.dim(indent(display.text, "  "));
    else this.dim(`${prefix}  ${firstLine(display?.type === "text" ? display.text : resultText(result))}`);
  }

  /**
   * One question at a time; undefined when the input ended or the signal came first. Lines typed before count; of a line that
   * has only begun `goesOn` says whether it begins the answer.
   */
  ask(question: string, signal?: AbortSignal, goesOn = false): Promise<string | undefined> {
    this.#endLine();
    return this.#questions.ask(visible(question), signal, goesOn);
  }

  /** Answers the open question as if it had been typed, unless something else has been. */
  answer(text: string): void {
    this.#questions.answer(text);
  }

  /** Keys, and lines that are typed while nothing is asked. */
  listen(listener: InputListener): void {
    this.#questions.listen(listener);
  }

  async pick<Value>(title: string, items: readonly PickItem<Value>[], signal?: AbortSignal): Promise<Value | undefined> {
    this.line(`${title}\n${numbered(items)}`);
    for (;;) {
      const answer = (await this.ask("Number, or words of it; nothing leaves > ", signal))?.trim();
      if (!answer) return undefined;
      try {
        return pickedBy(answer, items);
      } catch (error) {
        if (!(error instanceof UserError)) throw error;
        this.line(error.message);
      }
    }
  }

  /** A question with answers to choose from, by number or in words. */
  async choose(question: string, options: readonly string[], signal?: AbortSignal): Promise<string | undefined> {
    const choices = options.map((option, index) => `\n  ${index + 1}. ${option}`).join("");
    const answer = await this.ask(`${question}${choices}\n> `, signal);
    return options[Number(answer) - 1] ?? answer;
  }

  /** `alice: Bash(npm test) [y]es [n]o [a]lways`. */
  async askPermission(
    request: PermissionRequest,
    decision: PermissionDecision,
    alwaysRule: string | undefined,
    signal: AbortSignal,
  ): Promise<HumanAnswer | undefined> {
    const what = `${request.agent}: ${request.tool}(${request.access.subject})`;
    const always = alwaysRule === undefined ? "" : ` [a]lways (${alwaysRule})`;
    for (;;) {
      // Keys that were hit before the question stood there are no answer to it.
      this.#questions.forgetTyped();
      const detail = decision.detail ? `\n${indent(decision.detail, "    ")}` : "";
      const answer = await this.ask(`${what} — ${decision.reason}${detail}\n  [y]es [n]o${always} > `, signal);
      switch (answer?.trim().toLowerCase()) {
        case undefined:
          return undefined;
        case "y":
        case "yes":
          return "yes";
        case "n":
        case "no":
          return "no";
        case "a":
        case "always":
          if (alwaysRule !== undefined) return "always";
          break;
        default:
          break;
      }
    }
  }

  /** The plan, and what the person makes of it: a mode to go on in, or words on what to change. */
  async askPlan(plan: string, file: string, signal: AbortSignal): Promise<PlanAnswer | undefined> {
    this.line(`The plan (${file}):\n\n${plan}\n`);
    this.#questions.forgetTyped();
    for (;;) {
      const answer = (await this.ask(`${PLAN_QUESTION}\n  > `, signal))?.trim();
      if (answer === undefined) return undefined;
      const mode = /^(y|yes)$/i.test(answer) ? PLAN_MODES[0] : PLAN_MODES.find((_, index) => answer === String(index + 1));
      if (mode) return { mode };
      if (/^(4|n|no)$/i.test(answer)) return { feedback: "No: plan on. They did not say what to change; ask them." };
      if (answer.length > 1) return { feedback: answer };
    }
  }

  /** Deltas as they come; while a question is open, whole lines only, so that they do not run into it. */
  #stream(text: string): void {
    this.#openLine += text;
    const end = this.#openLine.lastIndexOf("\n") + 1;
    if (!this.#questions.isOpen) {
      this.#terminal.output.write(this.#openLine.slice(this.#shown));
      this.#shown = this.#openLine.length;
    } else if (end > 0) {
      this.#questions.print(this.#openLine.slice(this.#shown, end));
      this.#shown = end;
    }
    this.#openLine = this.#openLine.slice(end);
    this.#shown = Math.max(0, this.#shown - end);
  }

  #endLine(): void {
    if (this.#openLine === "") return;
    this.#questions.print(`${this.#openLine.slice(this.#shown)}\n`);
    this.#openLine = "";
    this.#shown = 0;
  }
}

function indent(text: string, by: string): string {
  const lines = text.trimEnd().split("\n");
  const shown = lines.slice(0, MAX_LINES).map((line) => `${by}${line}`);
  return lines.length > MAX_LINES ? `${shown.join("\n")}\n${by}… ${lines.length - MAX_LINES} more lines` : shown.join("\n");
}
