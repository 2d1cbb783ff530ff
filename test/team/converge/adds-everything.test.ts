import { expect, test } from "vitest";
import { addsEverything } from "../../../src/team/converge/adds-everything.ts";

test.each([
  "git add -A",
  "git add --all .",
  "git add .",
  "git add ./",
  "git add :/",
  'git add "*"',
  "git add '.'",
  "git -C sub add -u",
  "git -c core.editor=true add --update",
  "git add -vA",
  "git commit -am x",
  "git commit --all -m x",
  "git commit -a",
  "true && git add -A; git commit -m x",
  "(git add .)",
])("G02: %s adds everything", (command) => {
  expect(addsEverything(command)).toBe(true);
});

test.each([
  "git add f.txt src/a.ts",
  "git add -- .gitignore",
  "git add ./f.txt",
  'git commit -m "merge(bob): resolve conflict"',
  "git commit -m x --author=a",
  "git commit --amend",
  'git commit -m "no git add -A was used, all by name ."',
  "git merge --abort",
  "git status . && git diff -- .",
  "git log --all",
])("%s adds nothing by the heap", (command) => {
  expect(addsEverything(command)).toBe(false);
});
