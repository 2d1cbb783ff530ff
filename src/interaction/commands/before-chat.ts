import { once } from "node:events";
import { UserError } from "../../protocol/errors.ts";
import type { Surroundings } from "../../runtime/surroundings.ts";
import { hasNoProvider, wantsLocal } from "../../runtime/wanted-model.ts";
import { isPiped } from "../piped-input.ts";
import { PlainScreen } from "../plain.ts";

/** Without a terminal the lines of a pipe are the prompts; where there are none, nobody can say anything. */
export async function requireInput(prompt: string | undefined): Promise<void> {
  const { stdin } = process;
  if (stdin.isTTY) return;
  if (isPiped()) {
    if (prompt !== undefined) return;
    await once(stdin, "readable");
    if (stdin.readableLength > 0) return;
  }
  throw new UserError('There is no terminal to talk in. Give a prompt with -p: roocode -p "question"');
}

/** Where nothing is configured, a local server that has a model is offered to the person. */
export async function offerLocal(surroundings: Surroundings): Promise<Surroundings> {
  if (!process.stdin.isTTY || !hasNoProvider(surroundings) || wantsLocal(surroundings)) return surroundings;
  const { withLocalModel } = await import("../../runtime/local-model.ts");
  // A screen of its own: what holds the input would keep a start that fails from ending.
  const screen = new PlainScreen({ input: process.stdin, output: process.stdout, isScreen: false });
  try {
    return await withLocalModel(surroundings, { ask: (question) => screen.ask(question) });
  } finally {
    screen.close();
  }
}
