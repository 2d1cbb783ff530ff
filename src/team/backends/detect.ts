import { UserError } from "../../protocol/errors.ts";
import type { BackendKind } from "../../protocol/team.ts";

export type BackendFacts = {
  insideTmux: boolean;
  insideITerm: boolean;
  hasTmux: boolean;
  hasIt2: boolean;
  isTerminal: boolean;
};
export type BackendChoice = { kind: BackendKind; reason: string };

const WAYS_OUT = "Choose another with --backend process, --backend in-process, or --backend auto.";

/** Decided once, before the first spawn. What the person named is used or refused, never silently replaced. */
export function detectBackend(wanted: BackendKind | "auto", facts: BackendFacts): BackendChoice {
  switch (wanted) {
    case "tmux":
      if (!facts.hasTmux)
        throw new UserError(`tmux was asked for, but there is no tmux on PATH. Install it, or choose differently. ${WAYS_OUT}`);
      return { kind: "tmux", reason: "asked for" };
    case "iterm2":
      throw new UserError(`The iterm2 backend is not part of this version. ${WAYS_OUT}`);
    case "process":
    case "in-process":
      return { kind: wanted, reason: "asked for" };
    case "auto":
      if (!facts.isTerminal) return { kind: "process", reason: "no terminal" };
      if (facts.insideTmux && facts.hasTmux) return { kind: "tmux", reason: "inside tmux" };
      if (facts.hasTmux) return { kind: "tmux", reason: "tmux is installed" };
      return { kind: "in-process", reason: "no tmux on PATH" };
  }
}
