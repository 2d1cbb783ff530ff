import { UserError } from "../../protocol/errors.ts";
import type { BackendKind } from "../../protocol/team.ts";

export type BackendFacts = {
  insideTmux: boolean;
  insideITerm: boolean;
  hasTmux: boolean;
  hasIt2: boolean;
  isTerminal: boolean;
  /** The settings say how a pane is opened. */
  hasPaneCommands: boolean;
};
export type BackendChoice = { kind: BackendKind; reason: string };

const IT2_HINT = " (pip install it2 gives panes of iTerm2)";
const WAYS_OUT = "Choose another with --backend process, --backend in-process, or --backend auto.";

/** Decided once, before the first spawn. What the person named is used or refused, never silently replaced. */
export function detectBackend(wanted: BackendKind | "auto", facts: BackendFacts): BackendChoice {
  switch (wanted) {
    case "tmux":
      if (!facts.hasTmux)
        throw new UserError(`tmux was asked for, but there is no tmux on PATH. Install it, or choose differently. ${WAYS_OUT}`);
      return { kind: "tmux", reason: "asked for" };
    case "iterm2":
      if (!facts.insideITerm) throw new UserError(`iterm2 was asked for, but this terminal is not iTerm2. ${WAYS_OUT}`);
      if (!facts.hasIt2)
        throw new UserError(`iterm2 was asked for, but there is no it2 on PATH. Install it with pip install it2. ${WAYS_OUT}`);
      return { kind: "iterm2", reason: "asked for" };
    case "command":
      if (!facts.hasPaneCommands)
        throw new UserError(`The backend command needs team.pane.open in your settings: see docs/teams.md. ${WAYS_OUT}`);
      return { kind: "command", reason: "asked for" };
    case "process":
    case "in-process":
      return { kind: wanted, reason: "asked for" };
    case "auto":
      if (!facts.isTerminal) return { kind: "process", reason: "no terminal" };
      if (facts.insideTmux && facts.hasTmux) return { kind: "tmux", reason: "inside tmux" };
      if (facts.insideITerm && facts.hasIt2) return { kind: "iterm2", reason: "inside iTerm2" };
      if (facts.hasTmux) return { kind: "tmux", reason: `tmux is installed${facts.insideITerm ? IT2_HINT : ""}` };
      return { kind: "in-process", reason: `no tmux on PATH${facts.insideITerm ? IT2_HINT : ""}` };
  }
}
