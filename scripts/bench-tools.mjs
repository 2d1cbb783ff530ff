// Rows of scripts/bench for the file tools: an edit of 10 MB beside the same done by hand, Grep over 20,000 files beside plain rg.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rgPath } from "@vscode/ripgrep";

const BIG = 10 * 1024 * 1024;

/** `runPrint(protocol, answer)` is the bench's; the folder is a repository, which is left as it was. */
export async function benchTools({ runPrint, repo, rounds, median }) {
  const big = join(repo, "big.txt");
  const many = join(repo, "many");
  const line = (index) => `line ${index} of a file that is rather large, with words\n`;
  writeFileSync(big, Array.from({ length: Math.ceil(BIG / 55) }, (_, index) => line(index)).join(""));
  for (let folder = 0; folder < 200; folder += 1) {
    mkdirSync(join(many, `d${folder}`), { recursive: true });
    for (let file = 0; file < 100; file += 1)
      writeFileSync(join(many, `d${folder}`, `f${file}.js`), `export const value = ${file};\n${file === 50 ? "needle\n" : ""}`);
  }
  execFileSync("git", ["add", "-A"], { cwd: repo });
  execFileSync("git", ["-c", "user.name=bench", "-c", "user.email=bench@localhost", "commit", "-qm", "large"], { cwd: repo });
  const edit = (index) => ["EditFile", { path: "big.txt", old_string: `line ${index} of`, new_string: `LINE ${index} of` }];
  // The first edit of a session keeps what was there before, and the first of each tool loads it.
  const calls = [
    ["ReadFile", { path: "big.txt", limit: 5 }],
    edit(100),
    ...Array.from({ length: rounds }, (_, index) => edit(90_000 + index)),
  ];
  const searches = Array.from({ length: rounds + 1 }, () => ["Grep", { pattern: "needle", path: "many" }]);
  const gaps = { edit: [], grep: [] };
  const steps = [...calls, ...searches];
  let turn = 0;
  const { requests } = await runPrint("anthropic", () => {
    const step = steps[turn++];
    return step ? { calls: [{ name: step[0], input: step[1] }] } : { text: "Done." };
  });
  for (const [index, [name]] of steps.entries()) {
    const gap = requests[index + 1].at - requests[index].end;
    if (index > 1 && name === "EditFile") gaps.edit.push(gap);
    if (index > calls.length && name === "Grep") gaps.grep.push(gap);
  }
  const floors = { edit: [], grep: [] };
  for (let round = 0; round < rounds; round += 1) {
    floors.edit.push(timed(() => byHand(big, line(round))));
    floors.grep.push(timed(() => execFileSync(rgPath, ["needle", "many"], { cwd: repo })));
  }
  rmSync(big);
  rmSync(many, { recursive: true });
  const row = (name, key, limit) => {
    const [here, floor] = [median(gaps[key]), median(floors[key])];
    const ratio = here / floor;
    return [name, `${here.toFixed(0)} ms, ${floor.toFixed(0)} ms, ${ratio.toFixed(1)} x`, `<= ${limit} x`, ratio <= limit];
  };
  return [row("Edit in 10 MB: a turn, by hand, ratio", "edit", 5), row("Grep, 20,000 files: a turn, plain rg, ratio", "grep", 2.5)];
}

function byHand(path, text) {
  const content = readFileSync(path, "utf8").replace(text, text.toUpperCase());
  writeFileSync(`${path}.new`, content);
  renameSync(`${path}.new`, path);
}

function timed(work) {
  const started = performance.now();
  work();
  return performance.now() - started;
}
