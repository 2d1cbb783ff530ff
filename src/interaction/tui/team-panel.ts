import { type Component, matchesKey } from "@earendil-works/pi-tui";
import type { AgentEvent } from "../../protocol/agent.ts";
import { LEAD, type MemberStatus, type TeamStep } from "../../protocol/team.ts";
import { resultText } from "../../protocol/tool.ts";
import { briefSpent } from "../../runtime/cost-text.ts";
import type { TeamStatus } from "../../runtime/team-status.ts";
import { firstLine, shortInput, visible } from "../visible.ts";
import { clip } from "./clip.ts";
import type { Theme } from "./theme.ts";

/** Of a chosen member's doings. */
const LINES_KEPT = 40;
const LINES_SHOWN = 8;
const REFRESH_MS = 250;

type TeamPanelOptions = {
  theme: Theme;
  /** Reads the team's files. */
  look: () => Promise<TeamStatus>;
  redraw: () => void;
  onProblem: (text: string) => void;
  rows: () => number;
};

/**
 * The members of a team, a line each: state, task, cost, last word. One is chosen with Tab: then what it does is read here, and what is typed
 * goes to it. The team's files are read again after something happened, never by a clock.
 */
export class TeamPanel implements Component {
  readonly #options: TeamPanelOptions;
  #status: TeamStatus | undefined;
  readonly #lines = new Map<string, string[]>();
  #chosen = LEAD;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: TeamPanelOptions) {
    this.#options = options;
    this.changed();
  }

  /** Whom what is typed goes to. */
  get chosen(): string {
    return this.#chosen;
  }

  get chosenPane(): string | undefined {
    return this.#status?.members.find(({ name }) => name === this.#chosen)?.paneId;
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Something happened in the team. */
  changed(): void {
    if (this.#timer) return;
    const { look, redraw, onProblem } = this.#options;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      look()
        .then((status) => {
          this.#status = status;
          redraw();
        })
        .catch((error: unknown) => onProblem(`The team can't be shown: ${error instanceof Error ? error.message : String(error)}`));
    }, REFRESH_MS);
    this.#timer.unref();
  }

  observe(name: string, event: AgentEvent | TeamStep): void {
    const lines = doing(event);
    if (lines.length > 0) this.#lines.set(name, [...(this.#lines.get(name) ?? []), ...lines].slice(-LINES_KEPT));
    this.changed();
  }

  /** Tab on an empty input chooses the next; Esc goes back to the lead. */
  take(data: string, isInputEmpty: boolean): boolean {
    const names = [LEAD, ...(this.#status?.members.map(({ name }) => name) ?? [])];
    if (matchesKey(data, "tab") && isInputEmpty) this.#chosen = names[(names.indexOf(this.#chosen) + 1) % names.length] ?? LEAD;
    else if (matchesKey(data, "escape") && this.#chosen !== LEAD) this.#chosen = LEAD;
    else return false;
    return true;
  }

  invalidate(): void {}

  render(width: number): string[] {
    const { theme, rows } = this.#options;
    const status = this.#status;
    if (!status) return [];
    const done = status.tasks.filter((task) => task.status === "completed").length;
    const tasks = status.tasks.length === 0 ? "no tasks yet" : `${done} of ${status.tasks.length} tasks done`;
    const spent = status.spent && briefSpent(status.spent);
    const cost = spent ? ` · ${spent}` : "";
    const head = clip(theme.dim(visible(`Team ${status.team} · ${tasks}${cost}`)), width);
    const names = Math.max(4, ...status.members.map(({ name }) => name.length));
    const lines = status.members.map((member) => clip(this.#line(member, status, names), width, "…"));
    // The conversation keeps half of the screen.
    const room = Math.max(1, Math.floor(rows() / 2) - 6);
    const shown =
      lines.length > room ? [...lines.slice(0, room - 1), clip(theme.dim(`  … and ${lines.length - room + 1} more`), width)] : lines;
    const waits = status.tasks
      .filter(({ waitsFor }) => waitsFor.length > 0)
      .map(({ id, waitsFor }) => `${id} waits for ${waitsFor.join(", ")}`);
    return [
      "",
      head,
      ...shown,
      ...(waits.length > 0 ? [clip(theme.dim(`  tasks: ${waits.join("; ")}`), width)] : []),
      ...this.#reading(width, room),
      this.#hint(width),
    ];
  }

  #line(member: TeamStatus["members"][number], status: TeamStatus, width: number): string {
    const { dim, accent, bold } = this.#options.theme;
    const task = status.tasks.find(({ id }) => id === member.task);
    const isChosen = member.name === this.#chosen;
    const spent = member.spent && briefSpent(member.spent);
    const parts = [
      member.state + (member.detail ? ` (${member.detail})` : ""),
      ...(task ? [`${task.id}: ${task.subject}`] : []),
      ...(member.unread > 0 ? [`${member.unread} unread`] : []),
      ...(spent ? [spent] : []),
    ];
    const last = this.#lines.get(member.name)?.at(-1);
    const name = visible(member.name.padEnd(width));
    return `${isChosen ? accent("❯ ") : "  "}${this.#mark(member.state)} ${isChosen ? bold(name) : name}  ${visible(parts.join(" · "))}${last ? dim(`  ${last.trim()}`) : ""}`;
  }

  #mark(state: MemberStatus): string {
    const { good, bad, warn, dim } = this.#options.theme;
    switch (state) {
      case "busy":
      case "starting":
        return good("●");
      case "waiting":
      case "unreachable":
        return warn("●");
      case "failed":
      case "dead":
        return bad("●");
      case "idle":
      case "stopped":
        return dim("○");
    }
  }

  #reading(width: number, room: number): string[] {
    const lines = this.#lines.get(this.#chosen)?.slice(-Math.min(LINES_SHOWN, room)) ?? [];
    return lines.map((line) => clip(this.#options.theme.dim(`    │ ${line}`), width));
  }

  #hint(width: number): string {
    const to = this.#chosen === LEAD ? "the lead" : this.#chosen;
    const pane = this.chosenPane === undefined ? "" : " · Ctrl+G its pane";
    return clip(this.#options.theme.dim(visible(`To ${to} · Tab another${pane}`)), width);
  }
}

/** As lines of one who reads along. */
function doing(event: AgentEvent | TeamStep): string[] {
  if (event.type === "tool_use") return [visible(`● ${event.call.name}${shortInput(event.call.input)}`)];
  if (event.type === "tool_result") return event.result.isError ? [visible(`  ✗ ${firstLine(resultText(event.result))}`)] : [];
  if (event.type === "notice") return [visible(firstLine(event.text))];
  if (event.type !== "message" || !("message" in event) || event.message.role !== "assistant") return [];
  const text = event.message.content.flatMap((block) => (block.type === "text" ? block.text.trim().split("\n") : []));
  return text.filter((line) => line.trim() !== "").map(visible);
}
