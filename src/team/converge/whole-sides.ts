import { gitText } from "../../platform/git.ts";

export type MergeTrees = { commit: string; ours: string; theirs: string /** As git merges the two by itself. */; tree: string };
export type WholeSides = {
  /** `file: side`, for the report: of a conflict, or named in a command. */
  choices: string[];
  /** Files out of which a side's change went without a word. */
  dropped: string[];
  /** In conflict without markers, and as git left them. */
  undecided: string[];
};
type Files = ReadonlyMap<string, string>;

const EMPTY = ["e69de29bb2d1d6434b8b29ae775ad8c2e48c5391", "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813"];

/**
 * Of which files a merge has one side alone, or nothing. `changed`: those that are otherwise than in git's own merge; `isNamed`: chosen
 * in a command of the integrator.
 */
export async function wholeSides(
  repository: string,
  { commit, ours, theirs, tree }: MergeTrees,
  { conflicts, changed, isNamed }: { conflicts: readonly string[]; changed: readonly string[]; isNamed: (file: string) => boolean },
): Promise<WholeSides> {
  const found: WholeSides = { choices: [], dropped: [], undecided: [] };
  if (conflicts.length === 0 && changed.length === 0) return found;
  const [inCommit, inOurs, inTheirs, inTree] = await filesOf(repository, [commit, ours, theirs, tree]);
  for (const file of new Set([...conflicts, ...changed])) {
    const [now, our, their, gits] = [inCommit.get(file), inOurs.get(file), inTheirs.get(file), inTree.get(file)];
    const side = now === undefined ? "removed" : now === our ? "ours" : now === their ? "theirs" : undefined;
    const isInBoth = our !== undefined && their !== undefined;
    const isConflict = conflicts.includes(file);
    if (isNamed(file)) {
      if (side !== undefined && (isInBoth || isConflict || now === undefined)) found.choices.push(`${file}: ${side}`);
    } else if (!isConflict) {
      if (gits !== undefined && (side !== undefined || isEmpty(now))) found.dropped.push(file);
    } else if (isInBoth && (now === undefined || (isEmpty(now) && !isEmpty(our) && !isEmpty(their)))) found.dropped.push(file);
    else if (isInBoth && now === gits && side !== undefined) found.undecided.push(file);
    else if (side !== undefined && (our ?? their) !== undefined) found.choices.push(`${file}: ${side}`);
  }
  return found;
}

/** Files that a commit sets back to what they were at the start, or empties. */
export async function takenBack(repository: string, start: string, parent: string, commit: string): Promise<string[]> {
  const [atStart, before, after] = await filesOf(repository, [start, parent, commit]);
  return [...new Set([...before.keys(), ...after.keys()])].filter((file) => {
    const [was, now] = [before.get(file), after.get(file)];
    return was !== now && (now === atStart.get(file) || (isEmpty(now) && was !== undefined));
  });
}

function isEmpty(file: string | undefined): boolean {
  return EMPTY.some((id) => file?.endsWith(id) === true);
}

/** Mode and id of all files, by path. Whole trees: the paths of a large merge are more than a command line holds. */
async function filesOf<const Trees extends readonly string[]>(repository: string, trees: Trees): Promise<{ [Index in keyof Trees]: Files }>;
async function filesOf(repository: string, trees: readonly string[]): Promise<Files[]> {
  return Promise.all(
    trees.map(async (tree) => {
      const text = await gitText(repository, ["ls-tree", "-r", "-z", "--full-tree", tree]);
      return new Map(
        text.split("\0").flatMap((entry): [string, string][] => {
          const tab = entry.indexOf("\t");
          return tab < 0 ? [] : [[entry.slice(tab + 1), entry.slice(0, tab)]];
        }),
      );
    }),
  );
}
