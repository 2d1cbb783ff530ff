import { argsOf, type Part, programOf } from "../command-line.ts";
import { type Detector, deny, type Finding, stickyAsk } from "./finding.ts";

/** Fork bombs, stopping the machine, ending processes that are not ours. */
export const power: Detector = (part, { line }) => {
  const name = programOf(part);
  const texts = argsOf(part).map((word) => word.text);
  const operands = texts.filter((text) => !text.startsWith("-"));
  if (line.bombs.length > 0 && line.bombs.includes(part.words[0]?.text ?? ""))
    return [deny(`the function "${line.bombs[0]}" starts itself again and again`)];
  if (isSelfStart(part) && (part.isBackground || part.before.some(isSelfStart) || part.after.some(isSelfStart)))
    return [deny("the script starts itself again and again")];
  switch (name) {
    case "shutdown":
      return texts.some((text) => /^(-c|--help|--show)$/.test(text)) ? [] : [deny("it stops the machine")];
    case "reboot":
    case "halt":
    case "poweroff":
    case "pm-suspend":
    case "kexec":
      return texts.includes("--help") ? [] : [deny("it stops the machine")];
    case "init":
    case "telinit":
      return operands.some((text) => /^[0156sS]$/.test(text)) ? [deny("it changes the run level of the machine")] : [];
    case "systemctl":
    case "loginctl":
      return operands.some((text) =>
        /^(poweroff|reboot|halt|kexec|soft-reboot|emergency|rescue|suspend|hibernate|hybrid-sleep|exit|default|isolate)$/.test(text),
      )
        ? [deny("it stops the machine")]
        : [];
    case "osascript":
      return texts.some((text) => /\b(shut ?down|restart|log out|sleep)\b/i.test(text)) ? [deny("it stops the machine")] : [];
    case "kill":
      return kills(texts);
    case "killall5":
      return [deny("it ends every process")];
    case "pkill":
    case "killall":
    case "skill":
      return killsByName(name, texts);
    default:
      return [];
  }
};

function isSelfStart(part: Part): boolean {
  return /^(\.\/)?\$\{?(0|BASH_SOURCE)\}?$/.test(part.words[0]?.text ?? "");
}

function kills(texts: readonly string[]): Finding[] {
  if (texts.some((text) => /^-(l|L|-list|-table)$/.test(text)) || texts.includes("-0")) return [];
  const first = texts[0] ?? "";
  const rest = /^-s$|^-n$|^--signal$/.test(first) ? texts.slice(2) : /^-/.test(first) && texts.length > 1 ? texts.slice(1) : texts;
  const targets = rest.filter((text) => text !== "--");
  if (targets.some((text) => /^-?[01]$/.test(text) && text !== "0")) return [deny("it ends every process")];
  return targets.some((text) => !/^(%.*|\$!|\$\{!\})$/.test(text)) ? [stickyAsk("it ends a process that may be another agent's")] : [];
}

function killsByName(name: string, texts: readonly string[]): Finding[] {
  const patterns = texts.filter(
    (text, index) => !text.startsWith("-") && !/^-(u|U|g|G|P|s|t|-user|-signal|-euid)$/.test(texts[index - 1] ?? ""),
  );
  const everyone = patterns.some((text) => /^[.*^$]*$/.test(text));
  const byUser = texts.some((text) => /^(-[uUGg]|--(user|euid|uid))/.test(text)) && patterns.length === 0;
  if (everyone || byUser || texts.some((text) => /^(-v|--inverse)$/.test(text))) return [deny("it ends every process")];
  return [stickyAsk(`"${name}" ends processes by name, which may be another agent's`)];
}
