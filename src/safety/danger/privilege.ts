import { argsOf, type Part, parseOptions, programOf } from "../command-line.ts";
import { isPrivilegedContainer } from "../exec-flags.ts";
import { type Detector, type Finding, stickyAsk } from "./finding.ts";

const LOOSENESS = ["plan", "default", "acceptEdits", "bypassPermissions"];
const TMUX_READS = /^(ls|list-.*|lsp|lsw|lsc|info|has|has-session|display|display-message|show.*|capture-pane|capturep|-V)$/;

/** Other rights than the agent's own: another user, a privileged container, another agent's pane, a looser agent, the timetable of cron. */
export const privilege: Detector = (part, { mode }) => {
  const name = programOf(part);
  const args = argsOf(part);
  const texts = args.map((word) => word.text);
  switch (name) {
    case "sudo":
    case "doas":
    case "su":
    case "pkexec":
    case "runuser":
      return [stickyAsk(`"${name}" runs it with another user's rights`)];
    case "chmod":
      return setsUserId(part) ? [stickyAsk("it sets the set-user-id or set-group-id bit")] : [];
    case "install":
      return /^[2467]\d{3}$/.test(parseOptions(args, ["m", "mode"]).values.get("m")?.[0]?.text ?? "")
        ? [stickyAsk("it sets the set-user-id bit")]
        : [];
    case "setcap":
      return [stickyAsk("it gives a program rights of root")];
    case "docker":
    case "podman":
    case "nerdctl":
      return isPrivilegedContainer(args) ? [stickyAsk("this container reaches the machine itself")] : [];
    case "crontab":
      return texts.length > 0 && texts.every((text) => /^(-l|--list|-V)$/.test(text))
        ? []
        : [stickyAsk("it changes the timetable of cron")];
    case "at":
    case "batch":
      return texts.includes("-l") ? [] : [stickyAsk("it plans a command for later, out of sight")];
    case "tmux":
    case "screen":
      return otherPanes(name, texts);
    case "it2":
      return texts.includes("send") || texts.includes("close") ? [stickyAsk("it reaches another agent's pane")] : [];
    case "roocode":
      return looserAgent(texts, mode);
    case "npx":
    case "node":
    case "bunx":
      return texts.some((text) => /(^|\/)roocode(\.js)?(@.*)?$/.test(text)) ? looserAgent(texts, mode) : otherAgents(texts);
    default:
      return otherAgents(texts);
  }
};

function setsUserId(part: Part): boolean {
  return argsOf(part).some(({ text }) => /^0?[2-7][0-7]{3}$/.test(text) || /^([ugoa]*[+=-][rwxXst]*,)*[ugoa]*[+=][rwxX]*s/.test(text));
}

function otherPanes(name: string, texts: readonly string[]): Finding[] {
  const { command } = tmuxCommand(name, texts);
  if (command === undefined || TMUX_READS.test(command)) return [];
  return /^(send|send-keys|send-prefix|paste-buffer|pasteb|pipe-pane|pipep|respawn|kill|stuff|-X|set-hook|if|run|source|swap|join|move|break|link|unlink|attach|switch|detach|lock|set|bind|unbind|new|neww|split|choose|command|confirm|copy|load|rename|resize|select|wait|start)/.test(
    command,
  )
    ? [stickyAsk(`"${name} ${command}" reaches the panes of other agents`)]
    : [];
}

function tmuxCommand(name: string, texts: readonly string[]): { command: string | undefined } {
  if (name === "screen")
    return { command: texts.find((text) => text === "-X" || text === "stuff") ?? texts.find((text) => !text.startsWith("-")) };
  for (let index = 0; index < texts.length; index++) {
    const text = texts[index] ?? "";
    if (/^-[LSfcT]$/.test(text)) index++;
    else if (!text.startsWith("-") || text === "-V") return { command: text };
  }
  return { command: undefined };
}

function looserAgent(texts: readonly string[], mode: string): Finding[] {
  const at = texts.findIndex((text) => text.startsWith("--permission-mode"));
  const wanted = at < 0 ? undefined : (texts[at]?.split("=")[1] ?? texts[at + 1] ?? "");
  const isLooser =
    wanted !== undefined &&
    (LOOSENESS.indexOf(wanted) > LOOSENESS.indexOf(mode) || !LOOSENESS.includes(wanted) || wanted === "bypassPermissions");
  const opens = texts.some((text) => /^--(trust|add-dir|mcp-config)/.test(text)) || texts[0] === "worker";
  return isLooser || opens ? [stickyAsk("it starts another RooCode with wider permissions than this one")] : [];
}

function otherAgents(texts: readonly string[]): Finding[] {
  const isOpen = texts.some((text) => /^--(dangerously-|yolo|allow-dangerously)/.test(text));
  return isOpen ? [stickyAsk("it starts another agent without its permission checks")] : [];
}
