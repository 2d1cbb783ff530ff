import { basename } from "node:path";
import { watchFolder } from "../../platform/watch.ts";
import { UserError } from "../../protocol/errors.ts";
import { escapeSystemTags } from "../../protocol/system-tags.ts";
import { LEAD } from "../../protocol/team.ts";
import type { Surroundings } from "../../runtime/surroundings.ts";
import type { NewTeam } from "../../runtime/team-create.ts";
import { teamStatus } from "../../runtime/team-status.ts";
import { teamLayout } from "../../team/bus/file/layout.ts";
import type { OpenedTeamScreen } from "../screen.ts";
import { SteeringQueue } from "../steering-queue.ts";
import { plainTeamScreen } from "../team-screen.ts";
import type { Terminal } from "../terminal.ts";
import { TuiScreen } from "./app.ts";
import { ProcessTerminal } from "./process-terminal.ts";
import { TeamPanel } from "./team-panel.ts";
import { makeTheme } from "./theme.ts";

type TeamTui = { terminal: Terminal; surroundings: Surroundings; team: NewTeam; notify: (text: string) => void; stop: () => void };

/** The lead's screen: its talk, the members in a panel, and an input whose words go to the lead or to the chosen member. */
export function openTeamTui({ terminal, surroundings, team, notify, stop }: TeamTui): OpenedTeamScreen {
  const { folder } = team;
  const theme = makeTheme({ hasColours: terminal.isScreen, name: surroundings.settings.theme, env: surroundings.env });
  const own = new ProcessTerminal(terminal);
  const panel = new TeamPanel({
    theme,
    look: () => teamStatus(folder),
    redraw: () => screen.redraw(),
    onProblem: (text) => screen.hint(text),
    rows: () => own.rows,
  });
  // That a member waits stands there alone.
  const watcher = watchFolder(teamLayout(folder).presence, () => panel.changed());
  const screen: TuiScreen = new TuiScreen({
    terminal: own,
    theme,
    queue: new SteeringQueue(),
    status: () => [team.mode, `lead of ${team.team.name}`, team.ground.baseBranch],
    panel,
    notify,
    onJump: () => jump(panel.chosenPane, surroundings.env, screen),
  });
  let tellLead: ((text: string) => void) | undefined;

  const say = async (text: string): Promise<void> => {
    const to = panel.chosen;
    if (to !== LEAD) {
      const { sendToMember } = await import("../commands/team-act.ts");
      await sendToMember(surroundings, basename(folder), to, text, { json: false, interrupt: false }, (line) => screen.dim(line.trimEnd()));
    } else if (tellLead) {
      tellLead(`<system-reminder>The person at the terminal writes to you:\n${escapeSystemTags(text)}\n</system-reminder>`);
      screen.dim(`you → ${LEAD}: ${text}`);
    } else screen.hint("The lead has not begun yet.");
  };
  screen.listen({
    key: (key) => {
      if (key === "interrupt") stop();
      else screen.hint("Ctrl+C stops the team; its work is saved.");
    },
    line: (text) => {
      if (text.trim() !== "") say(text).catch((error: unknown) => screen.line(error instanceof UserError ? error.message : String(error)));
      return true;
    },
  });
  const lines = plainTeamScreen(screen);
  const teamScreen: OpenedTeamScreen["team"] = {
    ...lines,
    event: (event) => {
      lines.event(event);
      panel.changed();
    },
    step: (step) => {
      lines.step(step);
      panel.changed();
    },
    member: (name, event) => panel.observe(name, event),
    // What they do stands in the panel, in whatever process they are.
    memberScreen: (name) => ({ ...lines.memberScreen(name), event: () => undefined }),
  };
  return {
    screen,
    team: teamScreen,
    onBegin: (tell) => {
      tellLead = tell;
    },
    close: () => {
      watcher?.close();
      panel.close();
      screen.close();
    },
  };
}

function jump(pane: string | undefined, env: NodeJS.ProcessEnv, screen: TuiScreen): void {
  if (pane === undefined) {
    screen.hint("There is no pane to go to.");
    return;
  }
  const told = () => screen.hint("Its pane is not in this terminal; roocode team attach brings you there.");
  import("../../platform/process.ts")
    .then(({ runCommand }) => runCommand("tmux", ["select-window", "-t", pane, ";", "select-pane", "-t", pane], { env }))
    .then(({ exitCode }) => exitCode === 0 || told())
    .catch(told);
}
