import { randomUUID } from "node:crypto";
import type { AgentEvent } from "../protocol/agent.ts";
import type { TextBlock, ToolUseBlock } from "../protocol/message.ts";
import { escapeSystemTags } from "../protocol/system-tags.ts";
import { resultText, type Tool } from "../protocol/tool.ts";

/** Commands that the person runs with `!`: their own, so nobody is asked, and outside of the sandbox. The agent reads them with the next message. */
export class PersonCommands {
  readonly #bash: () => Tool | undefined;
  readonly #cwd: string;
  #ran: string[] = [];

  constructor(bash: () => Tool | undefined, cwd: string) {
    this.#bash = bash;
    this.#cwd = cwd;
  }

  async *run(command: string, signal: AbortSignal): AsyncGenerator<AgentEvent> {
    const bash = this.#bash();
    if (!bash) return yield { type: "notice", text: "This session has no shell." };
    const input = { command, unsandboxed: true };
    const call: ToolUseBlock = { type: "tool_use", id: `person-${randomUUID()}`, name: "Bash", input };
    yield { type: "tool_use", call };
    const result = await bash.run(bash.parse(input), { cwd: this.#cwd, callId: call.id, signal, progress: () => undefined });
    const text = resultText(result);
    // Shown as it is, a failure too: it is theirs.
    yield { type: "tool_result", call, result: { content: result.content, display: { type: "text", text } } };
    this.#ran.push(`$ ${command}\n${text}`);
  }

  /** What was run since the last message, for this one. */
  take(): TextBlock[] {
    if (this.#ran.length === 0) return [];
    const text = escapeSystemTags(this.#ran.splice(0).join("\n\n"));
    return [{ type: "text", text: `<system-reminder>\nThe person ran this in the shell before they wrote:\n${text}\n</system-reminder>` }];
  }
}
