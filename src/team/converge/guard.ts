import { isAncestor, tipsOf } from "../../platform/ancestry.ts";
import { gitText } from "../../platform/git.ts";
import type { TeamStep } from "../../protocol/team.ts";
import { errorResult, type Tool, type ToolResult } from "../../protocol/tool.ts";
import { addsEverything } from "./adds-everything.ts";
import { type GateResult, runGate } from "./gate.ts";
import type { Integration } from "./integrate.ts";
import { judgeCommit, type Made } from "./merge-check.ts";
import { pathsText } from "./path-text.ts";
import { previewMerge } from "./preview.ts";

export type Candidate = { name: string; branch: string; tip: string };
/** What last kept a member's branch out. */
export type Refusal = { kind: "conflict" | "gate" | "refused"; reason: string };

/** A merge of a member's branch that stands in the integration worktree. */
type MemberMerge = { teammate: string; branch: string; commit: string; worktree: string };
export type MergeHooks = {
  /** A reason why it must be taken back, or undefined. */
  beforeMerge?: ((merge: MemberMerge) => Promise<string | undefined>) | undefined;
  afterMerge?: ((merge: MemberMerge) => Promise<void>) | undefined;
};

export type GuardOptions = MergeHooks & {
  integration: Integration;
  candidates: readonly Candidate[];
  check?: string | undefined;
  gateTimeoutMs?: number | undefined;
  onStep: (step: TeamStep) => void;
  signal: AbortSignal;
};

const MOST_OUTPUT = 4_000;

/**
 * Watches what the integrator's commands do to the integration worktree, whatever they are called. What must not stay is taken
 * back to the last commit that was accepted, and the model reads why in the result of that very call.
 */
export class Guard {
  readonly merged = new Map<string, string>();
  readonly refusals = new Map<string, Refusal>();
  /** Sides of conflicts that were chosen whole, for the report. */
  readonly choices: string[] = [];
  /** Commits beside the merges, each with its subject. */
  readonly own: string[] = [];
  /** Of the last accepted commit, and of the last one at all. */
  acceptedGate: GateResult | undefined;
  lastGate: GateResult | undefined;
  readonly #options: GuardOptions;
  /** Files of which a side was named in commands since the last merge. */
  readonly #chosen = new Set<string>();

  constructor(options: GuardOptions) {
    this.#options = options;
  }

  wrap = (bash: Tool): Tool => ({
    ...bash,
    run: async (input, context) => {
      const command = commandOf(input, bash);
      if (addsEverything(command)) return errorResult(await this.#refuseSweep());
      this.#noteChoices(command);
      const result = await bash.run(input, context);
      // A reader can't move anything, and may run beside others. After an interrupt all that was not accepted goes.
      if (bash.isConcurrencySafe(input) || context.signal.aborted) return result;
      return joined(result, await this.look());
    },
  });

  /** Texts for the model about what was found; `isError` when something was taken back. */
  async look(): Promise<{ text: string; isError: boolean }> {
    const { integration } = this.#options;
    const { commit, isDetached, mergeHead } = await integration.head();
    if (!isDetached) {
      await integration.reset();
      return refused("HEAD was put on a branch. The integration worktree stays detached: it was put back to the last accepted commit.");
    }
    if (commit === integration.accepted) {
      if (mergeHead !== undefined) await this.#noteConflict(mergeHead);
      return { text: "", isError: false };
    }
    const forward = await firstParents(integration, commit);
    if (!forward) {
      await integration.reset();
      return refused("HEAD was moved elsewhere than forward. Merges that were accepted stay: it was put back to the last accepted commit.");
    }
    return this.#takeAll(forward, mergeHead);
  }

  /** Each new commit by itself, so that a bad one takes no good one before it along. */
  async #takeAll(commits: readonly Made[], mergeHead: string | undefined): Promise<{ text: string; isError: boolean }> {
    const { integration } = this.#options;
    const texts: string[] = [];
    for (const [index, commit] of commits.entries()) {
      const isLast = index === commits.length - 1;
      // The check must see what was committed, nothing else.
      if (!isLast || mergeHead !== undefined || (await isDirty(integration.path))) await integration.reset(commit.id);
      const problem = await this.#take(commit);
      if (problem === undefined) {
        texts.push(this.#acceptedText(commit.id));
        continue;
      }
      await integration.reset();
      const after = isLast ? "" : " What was merged after it was taken back too; merge it again.";
      return { text: [...texts, `${problem}${after}`].join("\n"), isError: true };
    }
    if (mergeHead !== undefined) {
      texts.push("The unfinished merge was ended, so that the check could run on what was committed. Start it again.");
      return { text: texts.join("\n"), isError: true };
    }
    return { text: texts.filter((text) => text !== "").join("\n"), isError: false };
  }

  /** Why the commit can't stay; undefined when it was accepted. */
  async #take(made: Made): Promise<string | undefined> {
    const { integration, onStep, check, beforeMerge, afterMerge } = this.#options;
    const { id: commit, parents } = made;
    const [, theirs] = parents;
    const candidate = theirs === undefined ? await this.#ownerOf(commit) : await this.#ownerOf(theirs);
    const what = candidate ? `the merge of ${candidate.name}` : "a commit of your own";
    const refuse = (kind: Refusal["kind"], reason: string, conflict?: readonly string[]) => {
      if (candidate) {
        this.refusals.set(candidate.name, { kind, reason });
        onStep({
          type: "merge",
          name: candidate.name,
          branch: candidate.branch,
          refused: reason,
          ...(conflict?.length ? { conflict } : {}),
        });
      }
      return `The system took back ${what}: ${reason}`;
    };
    if (theirs === undefined && candidate)
      return refuse("refused", `It was a fast-forward. Use: git merge --no-ff -m "merge: ${candidate.name}" ${candidate.branch}`);
    if (theirs !== undefined && !candidate)
      return refuse("refused", "It merges something that is no teammate's branch. Only branches of this team belong here.");
    const chosen = [...this.#chosen];
    this.#chosen.clear();
    const verdict = await judgeCommit(integration.path, made, integration.start, chosen);
    if ("problem" in verdict) {
      const { reason, conflicts } = verdict.problem;
      return refuse(conflicts.length > 0 ? "conflict" : "refused", reason, conflicts);
    }
    const merge = candidate && { teammate: candidate.name, branch: candidate.branch, commit, worktree: integration.path };
    const refusal = merge && (await beforeMerge?.(merge));
    if (refusal !== undefined) return refuse("refused", `A hook refused it. ${refusal}`);
    if (check !== undefined) {
      const gate = await this.#gate(check, commit);
      if (!gate.ok) return refuse("gate", `The check failed: ${check}\n${gate.output.slice(-MOST_OUTPUT)}`);
      this.acceptedGate = gate;
    }
    await integration.accept(commit);
    if (candidate) {
      this.merged.set(candidate.name, commit);
      this.refusals.delete(candidate.name);
      const { choices } = verdict;
      this.choices.push(...choices.map((choice) => `${choice} (with ${candidate.name})`));
      onStep({ type: "merge", name: candidate.name, branch: candidate.branch, commit, ...(choices.length > 0 ? { choices } : {}) });
    }
    if (merge) await afterMerge?.(merge);
    else this.own.push(await gitText(integration.path, ["log", "--no-show-signature", "--max-count=1", "--format=%h %s", commit]));
    return undefined;
  }

  async #gate(check: string, commit: string): Promise<GateResult> {
    const { integration, gateTimeoutMs, signal, onStep } = this.#options;
    const result = await runGate(
      {
        command: check,
        worktree: integration.path,
        env: integration.env,
        ...(gateTimeoutMs === undefined ? {} : { timeoutMs: gateTimeoutMs }),
      },
      signal,
    );
    // What it wrote would stand in the way of the next merge.
    if (!signal.aborted) await integration.tidy(commit);
    onStep({ type: "gate", command: check, ...result });
    this.lastGate = result;
    return result;
  }

  /** For a result of an earlier Converge, of which this one has no gate. */
  async gateNow(check: string): Promise<GateResult> {
    const result = await this.#gate(check, this.#options.integration.accepted);
    if (result.ok) this.acceptedGate = result;
    return result;
  }

  #acceptedText(commit: string): string {
    const name = [...this.merged].find(([, merge]) => merge === commit)?.[0];
    const gate = this.#options.check === undefined ? "" : ", the check is green";
    return name === undefined ? "" : `The system accepted the merge of ${name}${gate}.`;
  }

  async #ownerOf(commit: string): Promise<Candidate | undefined> {
    const { integration, candidates } = this.#options;
    const known = candidates.find(({ tip }) => tip === commit);
    if (known) return known;
    const branches = candidates.map(({ branch }) => branch);
    const tips = await tipsOf(integration.path, branches);
    const moved = candidates.find(({ branch }) => tips.get(branch) === commit);
    if (moved) return moved;
    for (const candidate of candidates) if (await isAncestor(integration.path, commit, `refs/heads/${candidate.branch}`)) return candidate;
    return undefined;
  }

  async #noteConflict(mergeHead: string): Promise<void> {
    const { integration, onStep } = this.#options;
    const candidate = await this.#ownerOf(mergeHead);
    if (!candidate || this.refusals.get(candidate.name)?.kind === "conflict") return;
    const { conflicts } = await previewMerge(integration.path, integration.accepted, mergeHead);
    if (conflicts.length === 0) return;
    this.refusals.set(candidate.name, { kind: "conflict", reason: `It conflicts in ${pathsText(conflicts)}.` });
    onStep({ type: "merge", name: candidate.name, branch: candidate.branch, conflict: conflicts });
  }

  async #refuseSweep(): Promise<string> {
    const { integration, onStep } = this.#options;
    const { mergeHead } = await integration.head();
    const reason =
      "Not run: it adds everything, with conflict markers and files that are no part of the merge. Name each file: git add FILE";
    const candidate = mergeHead === undefined ? undefined : await this.#ownerOf(mergeHead);
    if (candidate) onStep({ type: "merge", name: candidate.name, branch: candidate.branch, refused: reason });
    return reason;
  }

  /** A side that is named in a command is an explicit choice. */
  #noteChoices(command: string): void {
    for (const match of command.matchAll(
      /\bgit\s+(?:checkout|restore)\s+([^;&|\n]*--(?:ours|theirs)[^;&|\n]*)|\bgit\s+rm\s+([^;&|\n]*)/g,
    )) {
      for (const word of words(match[1] ?? match[2] ?? "")) this.#chosen.add(word);
    }
  }
}

/** The words of a command that are no options, without quotes. */
function words(text: string): string[] {
  return (text.match(/"[^"]*"|'[^']*'|\S+/g) ?? [])
    .filter((word) => !/^-|[<>]/.test(word))
    .map((word) => word.replace(/^(["'])(.*)\1$/, "$2").replace(/^\.\//, ""));
}

/** The commits from the accepted one to HEAD along the first parents, oldest first; undefined when it is not among them. */
async function firstParents(integration: Integration, commit: string): Promise<Made[] | undefined> {
  const range = `${integration.accepted}..${commit}`;
  const text = await gitText(integration.path, ["log", "--no-show-signature", "--first-parent", "--reverse", "--format=%H %T %P", range]);
  const made = text.split("\n").map((row): Made => {
    const [id = "", tree = "", ...parents] = row.split(" ");
    return { id, tree, parents };
  });
  return made[0]?.parents[0] === integration.accepted ? made : undefined;
}

async function isDirty(worktree: string): Promise<boolean> {
  return (await gitText(worktree, ["status", "--porcelain", "--untracked-files=no"])) !== "";
}

function commandOf(input: unknown, bash: Tool): string {
  return bash.access(input).subject;
}

function refused(text: string): { text: string; isError: boolean } {
  return { text, isError: true };
}

function joined(result: ToolResult, { text, isError }: { text: string; isError: boolean }): ToolResult {
  if (text === "") return result;
  const note = `[system] ${text}`;
  const content = [...result.content, { type: "text" as const, text: note }];
  return { ...result, content, ...(isError || result.isError ? { isError: true } : {}) };
}
