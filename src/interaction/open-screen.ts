import { UserError } from "../protocol/errors.ts";
import { PlainScreen } from "./plain.ts";
import type { SessionScreen } from "./screen.ts";
import type { SteeringQueue } from "./steering-queue.ts";

const WISHES = ["auto", "full", "plain"] as const;
type Wish = (typeof WISHES)[number];

/**
 * The full screen on a terminal that has cursor movement; else lines. `ROOCODE_SCREEN` before `screen` of the settings; a screen reader
 * and a recording are better served with `plain`.
 */
export async function openScreen(env: NodeJS.ProcessEnv, setting: Wish | undefined, queue: SteeringQueue): Promise<SessionScreen> {
  const { stdin: input, stdout: output } = process;
  const terminal = { input, output, isScreen: output.isTTY === true && !env.NO_COLOR };
  const wish = readWish(env.ROOCODE_SCREEN) ?? setting ?? "auto";
  const canDraw = input.isTTY === true && output.isTTY === true;
  if (!canDraw || wish === "plain" || (wish === "auto" && env.TERM === "dumb"))
    return { screen: new PlainScreen(terminal), attach: () => undefined };
  const { openTui } = await import("./tui/open.ts");
  return openTui(terminal, queue);
}

function readWish(text: string | undefined): Wish | undefined {
  if (text === undefined || text === "") return undefined;
  const wish = WISHES.find((one) => one === text);
  if (wish === undefined) throw new UserError(`ROOCODE_SCREEN is "${text}"; it takes ${WISHES.join(", ")}.`);
  return wish;
}
