import * as z from "zod";
import { defineTool } from "../../protocol/define-tool.ts";
import { errorResult, type Tool, textResult } from "../../protocol/tool.ts";

const schema = z.object({
  question: z.string().min(1).describe("One question, short and whole."),
  options: z.array(z.string()).max(6).optional().describe("Answers to choose from; the person may also answer freely."),
});
/** Undefined when no human is there to answer. */
export type AskUser = (question: string, options: readonly string[], signal: AbortSignal) => Promise<string | undefined>;

export function askUserTool(ask: AskUser): Tool {
  return defineTool({
    name: "AskUserQuestion",
    description:
      "Asks the person one question and returns the answer. Use it when the work can go in ways that only the person can choose between, not for permission and not for what you can find out. Without a person it fails; then say in your answer what is left open.",
    schema,
    access: ({ question }) => ({ kind: "other", subject: question }),
    async run({ question, options }, { signal }) {
      const answer = await ask(question, options ?? [], signal);
      if (answer === undefined)
        return errorResult(
          "No human is here to answer. The question is left open: go on without it where you can, and name it in your answer.",
        );
      return textResult(answer);
    },
  });
}
