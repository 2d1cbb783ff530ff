import { type Answer, type Call, calls, type Step } from "./conversation.ts";
import type { Plan } from "./plan.ts";

const BRANCH = /worktree-team-[^\s+"'`]+\+[\p{L}\p{N}\p{M}_-]+/gu;

/** The integrator: one merge a branch, clean ones in one turn; a conflict is read, edited, added and committed before the next. */
export function integratorTurn(plan: Plan, steps: readonly Step[]): Answer {
  const together = cleanBranches(plan, steps);
  if (together.length > 1 && calls(steps, "Bash").length === 0) {
    const merges = together.map((branch) => ({ name: "Bash", input: { command: mergeCommand(branch) } }));
    return { text: `${together.map(nameOf).join(", ")} do not conflict: I merge them.`, calls: merges };
  }
  for (const branch of branchesOf(plan, steps)) {
    const name = nameOf(branch);
    const command = mergeCommand(branch);
    const at = steps.findIndex((step) => isBash(step, command) && !isHeldUp(step));
    if (at < 0) return bash(`Next is ${name}.`, command);
    const merge = steps[at];
    if (merge?.type !== "call" || !merge.result.includes("CONFLICT")) continue;
    const answer = resolve(plan, name, conflictedFiles(merge.result), steps.slice(at + 1));
    if (answer) return answer;
  }
  return { text: `[${plan.label}] ${plan.words.integrator}` };
}

/** The prompt's list of them; none when the plan has an order that a conflict may stand in the midst of. */
function cleanBranches(plan: Plan, steps: readonly Step[]): string[] {
  const prompt = steps.find((step) => step.type === "words" && step.from === "user");
  const parts = prompt?.type === "words" ? prompt.text.split("\n\n") : [];
  if (plan.mergeOrder && parts.some((part) => part.startsWith("One at a time"))) return [];
  const list = parts.find((part) => part.startsWith("Without a conflict, all in one turn"));
  return branchesOf(plan, steps).filter((branch) => list?.includes(mergeCommand(branch)));
}

function mergeCommand(branch: string): string {
  return `git merge --no-ff -m "merge: ${nameOf(branch)}" ${branch}`;
}

/** It did not begin, because the one before it is in conflict. */
function isHeldUp(step: Step): boolean {
  return step.type === "call" && /not possible because you have unmerged files|have not concluded your merge/.test(step.result);
}

/** Branches that the prompt names, in the plan's order. */
function branchesOf(plan: Plan, steps: readonly Step[]): string[] {
  const prompt = steps.find((step) => step.type === "words" && step.from === "user");
  const found = [...new Set(prompt?.type === "words" ? prompt.text.match(BRANCH) : [])];
  const order = plan.mergeOrder ?? plan.teammates.map((one) => one.name);
  const place = (branch: string) => (order.includes(nameOf(branch)) ? order.indexOf(nameOf(branch)) : order.length);
  return found.sort((a, b) => place(a) - place(b));
}

function nameOf(branch: string): string {
  return branch.slice(branch.indexOf("+") + 1);
}

/** "CONFLICT (content): Merge conflict in FILE"; other kinds name no file to edit. */
function conflictedFiles(result: string): string[] {
  return [...result.matchAll(/^CONFLICT \([^)]*\): Merge conflict in (.+)$/gm)].flatMap((match) =>
    match[1] === undefined ? [] : [match[1].trim()],
  );
}

function resolve(plan: Plan, name: string, files: readonly string[], since: readonly Step[]): Answer | undefined {
  if (files.length === 0) {
    const abort = "git merge --abort";
    return since.some((step) => isBash(step, abort)) ? undefined : bash(`${name}'s conflict is not one of text: I leave it.`, abort);
  }
  for (const file of files) {
    const add = `git add ${shellWord(file)}`;
    if (since.some((step) => isBash(step, add))) continue;
    const read = calls(since, "ReadFile").findLast((call) => call.input.path === file);
    if (!read) return { text: `${file} is in conflict: I read both sides.`, calls: [{ name: "ReadFile", input: { path: file } }] };
    const edited = calls(since, "EditFile").some((call) => call.input.path === file);
    const edit = edited ? undefined : resolution(file, read, plan.resolutions[file]);
    if (edit) return { text: "Both intents stay.", calls: [{ name: "EditFile", input: edit }] };
    return bash(`${file} is resolved.`, add);
  }
  const commit = `git commit -m "merge(${name}): resolve conflict"`;
  return since.some((step) => isBash(step, commit)) ? undefined : bash("The conflict is resolved.", commit);
}

/** The edit that turns what ReadFile shows into `wanted`; without it every block keeps both sides. */
function resolution(path: string, read: Call, wanted: string | undefined): Record<string, unknown> | undefined {
  const lines = shownLines(read.result);
  const blocks = conflictBlocks(lines);
  const first = blocks[0];
  const last = blocks.at(-1);
  if (!first || !last) return undefined;
  if (wanted === undefined) {
    const edits = blocks.map((block) => ({
      old_string: lines.slice(block.start, block.end).join("\n"),
      new_string: bothSides(lines, block).join("\n"),
    }));
    return { path, edits };
  }
  const target = wanted.replace(/\n$/, "").split("\n");
  const before = lines.slice(0, first.start);
  const after = lines.slice(last.end);
  const fits =
    before.every((line, index) => target[index] === line) &&
    after.every((line, index) => target[target.length - after.length + index] === line);
  const isInside = fits && target.length >= before.length + after.length;
  const from = isInside ? first.start : 0;
  const to = isInside ? last.end : lines.length;
  return {
    path,
    old_string: lines.slice(from, to).join("\n"),
    new_string: (isInside ? target.slice(before.length, target.length - after.length) : target).join("\n"),
  };
}

/** ReadFile's lines are "number, tab, text"; what follows them (reminders) has no number. */
function shownLines(result: string): string[] {
  return result.split("\n").flatMap((line) => {
    const match = /^ *\d+\t(.*)$/.exec(line);
    return match?.[1] === undefined ? [] : [match[1]];
  });
}

/** `end` is behind the closing marker; `base` is set where git shows the common ancestor too. */
type Block = { start: number; base?: number; middle: number; end: number };

function conflictBlocks(lines: readonly string[]): Block[] {
  const blocks: Block[] = [];
  let open: { start: number; base?: number; middle?: number } | undefined;
  for (const [at, line] of lines.entries()) {
    if (line.startsWith("<<<<<<< ")) open = { start: at };
    else if (open && line.startsWith("||||||| ")) open.base = at;
    else if (open && line === "=======") open.middle = at;
    else if (open?.middle !== undefined && line.startsWith(">>>>>>> ")) {
      blocks.push({ ...open, middle: open.middle, end: at + 1 });
      open = undefined;
    }
  }
  return blocks;
}

function bothSides(lines: readonly string[], { start, base, middle, end }: Block): string[] {
  const ours = lines.slice(start + 1, base ?? middle);
  const theirs = lines.slice(middle + 1, end - 1);
  return [...ours, ...theirs.filter((line) => !ours.includes(line))];
}

function isBash(step: Step, command: string): boolean {
  return step.type === "call" && step.name === "Bash" && step.input.command === command;
}

function bash(text: string, command: string): Answer {
  return { text, calls: [{ name: "Bash", input: { command } }] };
}

function shellWord(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
