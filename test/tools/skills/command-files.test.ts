import { expect, test } from "vitest";
import { findCommands } from "../../../src/tools/skills/command-files.ts";
import { filesIn } from "../../support/skills.ts";

test("files are commands by their path, with front matter or without; folders become part of the name", async () => {
  await using made = await filesIn({
    "fix.md": "# Fix an issue\n\nFix $1.\n",
    "deploy/staging.md":
      '---\ndescription: To staging\nargument-hint: "[version]"\nallowed-tools: Bash(make *)\ncontext: fork\n---\nDeploy $ARGUMENTS.\n',
    "README.md": "About\n",
    "notes.txt": "no\n",
  });
  const { skills, findings } = await findCommands([{ folder: made.path, level: "project", isOwn: true }]);
  expect(skills).toMatchObject([
    {
      name: "deploy:staging",
      description: "To staging",
      argumentHint: "[version]",
      allowedTools: ["Bash(make *)"],
      mode: "fork",
      isForModel: false,
    },
    { name: "fix", description: "Fix an issue", mode: "inline", body: "# Fix an issue\n\nFix $1." },
  ]);
  expect(findings.map(({ verdict }) => verdict)).toEqual(["load", "load"]);
});

test("an empty file and hopeless YAML are refused with a reason; odd forms and commands in the text are said", async () => {
  await using made = await filesIn({
    "empty.md": "---\ndescription: d\n---\n",
    "broken.md": "---\n{{{ ]\n---\nGo.\n",
    "open.md": "---\ndescription: d\nGo.\n",
    "runs.md": "---\ndescription: d\n---\nState: !`git status`\n",
    "colon.md": "---\ndescription: Two modes: fast\n---\nGo.\n",
  });
  const { skills, findings } = await findCommands([{ folder: made.path, level: "user", isOwn: false }]);
  expect(skills.map(({ name }) => name)).toEqual(["colon", "runs"]);
  expect(findings.map(({ name, verdict, reason }) => [name, verdict, reason])).toEqual([
    ["broken", "refuse", expect.stringMatching(/^line 2: no valid YAML/)],
    ["colon", "warn", expect.stringMatching(/^line 2: no valid YAML/)],
    ["empty", "refuse", "there is nothing in it to send"],
    ["open", "refuse", expect.stringMatching(/^line 1: .*not closed/)],
    ["runs", "warn", expect.stringContaining("are not run, they are sent as text")],
  ]);
});
