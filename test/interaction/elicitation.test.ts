import { expect, test } from "vitest";
import { formQuestions } from "../../src/interaction/elicitation.ts";

const requestedSchema = {
  type: "object" as const,
  properties: {
    size: { type: "string" as const, enum: ["small", "large"] },
    count: { type: "integer" as const, default: 2 },
    gift: { type: "boolean" as const },
  },
  required: ["size"],
};

async function asked(consent: string | undefined, ...typed: readonly (string | undefined)[]) {
  const questions: string[] = [];
  const ask = async (question: string) => {
    questions.push(question);
    return typed[questions.length - 1];
  };
  const form = formQuestions({ ask, choose: async () => consent });
  const answer = await form("shop", { message: "Which one?", requestedSchema }, new AbortController().signal);
  return { answer, questions };
}

test("a form is asked field by field, again until it fits; an empty line leaves the default to the server", async () => {
  const { answer, questions } = await asked("answer", "huge", "large", "", "yes");
  expect(answer).toEqual({ action: "accept", content: { size: "large", gift: true } });
  expect(questions).toEqual([
    "size [small, large]: ",
    "That does not fit. size [small, large]: ",
    "count (2 unless given): ",
    "gift [yes, no]: ",
  ]);
});

test("a person may decline before any question, and leave in the middle", async () => {
  expect(await asked("decline")).toEqual({ answer: { action: "decline" }, questions: [] });
  expect((await asked(undefined)).answer).toEqual({ action: "cancel" });
  expect((await asked("answer", "small", undefined)).answer).toEqual({ action: "cancel" });
});
