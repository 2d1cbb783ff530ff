import type { FilesPlan } from "../../memory/checkpoints/checkpoints.ts";
import type { Change } from "../../memory/checkpoints/snapshot-store.ts";
import type { SlashCommand, SlashContext } from "./command.ts";

const SHOWN = 15;

export const rewindCommand: SlashCommand = {
  name: "rewind",
  type: "local",
  argument: "[turn [both|conversation|files]]",
  describe: "Go back to before one of your messages: conversation, files or both; Esc twice",
  async run(argument, context) {
    const { session, print, ask } = context;
    const { listTurns } = await import("../../memory/turns.ts");
    const turns = listTurns(session.session.path);
    if (turns.length === 0) return say(print, "There is nothing to go back to yet.");
    if (argument === "")
      print(
        turns
          .slice(-SHOWN)
          .map(({ turn, text }) => `${String(turn).padStart(4)}  ${text.slice(0, 100)}`)
          .join("\n"),
      );
    const answer = argument === "" ? await ask("Go back to before which message? (number, or nothing) ") : argument;
    if (answer === undefined || answer.trim() === "") return undefined;
    const [wanted, what] = answer.trim().split(/\s+/);
    const turn = turns.find((one) => String(one.turn) === wanted)?.turn;
    if (turn === undefined) return say(print, `There is no message ${wanted}. /rewind lists them.`);

    const checkpoints = await session.checkpoints();
    const plan = await checkpoints.plan(turn);
    print(planText(plan));
    const choice = (what ?? (await ask("[b]oth, [c]onversation, [f]iles, or nothing > ")))?.trim().toLowerCase()[0];
    if (choice === "b" || choice === "f") {
      const left = await checkpoints.restore(
        turn,
        plan.restore.map(({ path }) => path),
      );
      print(left.length === 0 ? `Files: ${plan.restore.length} brought back.` : `These could not be brought back: ${left.join(", ")}.`);
    }
    if (choice === "b" || choice === "c") await conversation(turn, context);
    return undefined;
  },
};

async function conversation(turn: number, { session, print }: SlashContext): Promise<void> {
  const { historyBefore } = await import("../../memory/turns.ts");
  const history = historyBefore(session.session.path, turn);
  if (!history) return;
  await session.agent.rewind(history, turn);
  print(`The conversation is what it was before message ${turn}.`);
}

function planText({ restore, foreign }: FilesPlan): string {
  const list = (changes: readonly Change[]) =>
    [
      ...changes.slice(0, SHOWN).map(({ path, type }) => `  ${MARKS[type]} ${path}`),
      ...(changes.length > SHOWN ? [`  … and ${changes.length - SHOWN} more`] : []),
    ].join("\n");
  const own = restore.length === 0 ? "No file changes of the agent are to be undone." : `Undone would be:\n${list(restore)}`;
  return foreign.length === 0 ? own : `${own}\nChanged by somebody else meanwhile, so they stay as they are:\n${list(foreign)}`;
}

/** What has happened to the file since then. */
const MARKS: Readonly<Record<Change["type"], string>> = { added: "+", changed: "~", deleted: "-" };

function say(print: (text: string) => void, text: string): undefined {
  print(text);
}
