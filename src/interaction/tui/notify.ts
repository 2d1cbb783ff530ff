export type NotifyKind = "auto" | "off" | "bell" | "osc9" | "osc777";

/** How a terminal calls a person who looks elsewhere, as bytes for it. `text` is one line of ours. */
export function notification(kind: NotifyKind, text: string, env: NodeJS.ProcessEnv): string {
  const plain = text.replaceAll(/[\x00-\x1f\x7f-\x9f;]/g, " ").slice(0, 120);
  switch (kind === "auto" ? kindOf(env) : kind) {
    case "off":
    case "auto":
      return "";
    case "bell":
      return "\x07";
    case "osc9":
      return `\x1b]9;${plain}\x07`;
    case "osc777":
      return `\x1b]777;notify;RooCode;${plain}\x07`;
  }
}

/** tmux passes none of the sequences on, but marks a window whose bell rang. */
function kindOf({ TMUX, TERM = "", TERM_PROGRAM = "" }: NodeJS.ProcessEnv): NotifyKind {
  if (TMUX) return "bell";
  if (["iTerm.app", "WezTerm", "ghostty"].includes(TERM_PROGRAM)) return "osc9";
  return TERM.startsWith("rxvt") || TERM.startsWith("foot") ? "osc777" : "bell";
}
