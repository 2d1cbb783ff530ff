import { UserError } from "../protocol/errors.ts";
import type { Settings } from "../runtime/settings-schema.ts";
import type { Surroundings } from "../runtime/surroundings.ts";
import type { NewTeam } from "../runtime/team-create.ts";
import { speaksUtf8 } from "./locale.ts";
import { PlainScreen } from "./plain.ts";
import type { OpenedTeamScreen, SessionScreen } from "./screen.ts";
import type { SteeringQueue } from "./steering-queue.ts";
import type { Terminal } from "./terminal.ts";

const WISHES = ["auto", "full", "plain"] as const;
type Wish = (typeof WISHES)[number];

/**
 * The full screen on a terminal that has cursor movement and UTF-8; else lines. `ROOCODE_SCREEN` before `screen` of the settings; a screen reader
 * and a recording are better served with `plain`.
 */
export async function openScreen({ env, settings }: Pick<Surroundings, "env" | "settings">, queue: SteeringQueue): Promise<SessionScreen> {
  const terminal = ownTerminal(env);
  if (!isFull(env, settings.screen)) return { screen: new PlainScreen(terminal), attach: () => undefined };
  const { openTui } = await import("./tui/open.ts");
  const theme = { hasColours: terminal.isScreen, name: settings.theme, env };
  return openTui({ terminal, queue, theme, env, notify: await notifier(terminal, env, settings.notify) });
}

/** The lead's full screen, with its team; undefined where lines are shown. */
export async function openTeamScreen(surroundings: Surroundings, team: NewTeam, stop: () => void): Promise<OpenedTeamScreen | undefined> {
  const { env, settings } = surroundings;
  if (!isFull(env, settings.screen)) return undefined;
  const { openTeamTui } = await import("./tui/open-team.ts");
  const terminal = ownTerminal(env);
  return openTeamTui({ terminal, surroundings, team, notify: await notifier(terminal, env, settings.notify), stop });
}

async function notifier({ output }: Terminal, env: NodeJS.ProcessEnv, kind: Settings["notify"] = "auto"): Promise<(text: string) => void> {
  const { notification } = await import("./tui/notify.ts");
  return (text) => void output.write(notification(kind, text, env));
}

function ownTerminal(env: NodeJS.ProcessEnv): Terminal {
  const { stdin: input, stdout: output } = process;
  return { input, output, isScreen: output.isTTY === true && !env.NO_COLOR };
}

function isFull(env: NodeJS.ProcessEnv, setting: Wish | undefined): boolean {
  const wish = readWish(env.ROOCODE_SCREEN) ?? setting ?? "auto";
  const canDraw = process.stdin.isTTY === true && process.stdout.isTTY === true;
  return canDraw && (wish === "full" || (wish === "auto" && env.TERM !== "dumb" && speaksUtf8(env)));
}

function readWish(text: string | undefined): Wish | undefined {
  if (text === undefined || text === "") return undefined;
  const wish = WISHES.find((one) => one === text);
  if (wish === undefined) throw new UserError(`ROOCODE_SCREEN is "${text}"; it takes ${WISHES.join(", ")}.`);
  return wish;
}
