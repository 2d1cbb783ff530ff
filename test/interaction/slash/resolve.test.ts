import { join } from "node:path";
import { expect, test } from "vitest";
import { slashCompletions } from "../../../src/interaction/slash/completions.ts";
import { SLASH_COMMANDS } from "../../../src/interaction/slash/registry.ts";
import { maySlash, resolveSlash } from "../../../src/interaction/slash/resolve.ts";
import { Skills } from "../../../src/runtime/skills.ts";
import { filesIn, skillText } from "../../support/skills.ts";

async function sessionWith(files: Readonly<Record<string, string>>) {
  const made = await filesIn(files);
  const place = (name: string) => [{ folder: join(made.path, name), level: "project", isOwn: true } as const];
  const skills = new Skills(place("skills"), place("commands"), async () => undefined);
  return { session: { skills }, [Symbol.asyncDispose]: () => made[Symbol.asyncDispose]() };
}

const kindOf = async (line: string, session: { skills: Skills }) => {
  const slash = await resolveSlash(line, session);
  return slash && (slash.type === "unknown" ? slash.text : `${slash.type} ${slash.name} [${slash.argument}]`);
};

test("own commands come before files, a skill before a command file of its name, and what stands behind the name is the argument", async () => {
  await using made = await sessionWith({
    "skills/mine.md": skillText({ name: "mine", description: "d" }, "skill"),
    "skills/help.md": skillText({ name: "help", description: "d" }),
    "commands/mine.md": "command",
    "commands/git/fix-1.md": "Fix.",
  });
  const { session } = made;
  expect(await kindOf("/mode plan ", session)).toBe("command mode [plan]");
  expect(await kindOf("/help", session)).toBe("command help []");
  expect(await kindOf("/mine  two\nlines", session)).toBe("prompt mine [two\nlines]");
  expect(await resolveSlash("/mine", session)).toMatchObject({ skill: { body: "skill" } });
  expect(await kindOf("/git:fix-1 7", session)).toBe("prompt git:fix-1 [7]");
});

test("what only begins with a slash is a message; prompts of MCP servers are filled in elsewhere", async () => {
  await using made = await sessionWith({});
  for (const line of [
    "/etc/hosts is wrong",
    "/tmp is full",
    "/",
    "/ x",
    "//x",
    "/* x */",
    "/.env is there",
    "/2 of them",
    "/mcp__a__b x",
    "no slash /help",
  ])
    expect(await kindOf(line, made.session)).toBeUndefined();
  expect(maySlash("/etc/hosts")).toBe(false);
});

test("an unknown name is answered with the nearest ones, or with why its file can't be used", async () => {
  await using made = await sessionWith({
    "skills/deploy.md": skillText({ name: "deploy", description: "d" }),
    "skills/odd.md": "---\nname: odd\n---\n",
  });
  expect(await kindOf("/hlep", made.session)).toBe("There is no command /hlep. Did you mean /help?");
  expect(await kindOf("/depoly now", made.session)).toBe("There is no command /depoly. Did you mean /deploy?");
  expect(await kindOf("/Compact", made.session)).toBe("There is no command /Compact. Did you mean /compact?");
  expect(await kindOf("/perm", made.session)).toBe("There is no command /perm. Did you mean /permissions?");
  expect(await kindOf("/nothing-like-it", made.session)).toBe("There is no command /nothing-like-it. /help lists them.");
  expect(await kindOf("/odd", made.session)).toMatch(/^\/odd can't be used: .*odd\.md: line 1: there is no description\.$/);
});

test("completion has name, type, description and hint of all that can be typed, by name", async () => {
  await using made = await sessionWith({
    "skills/deploy.md": skillText({
      name: "deploy",
      description: "Deploys it somewhere safe. Long words follow.",
      "argument-hint": "where",
    }),
    "skills/hidden.md": skillText({ name: "hidden", description: "d", "user-invocable": "false" }),
    "commands/fix.md": "# Fix an issue\n",
  });
  const all = await slashCompletions(SLASH_COMMANDS, { ...made.session, mcp: undefined });
  expect(all.map(({ name }) => name)).toEqual([...all.map(({ name }) => name)].sort());
  expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
  expect(all).toEqual(
    expect.arrayContaining([
      { name: "deploy", type: "prompt", description: "Deploys it somewhere safe.", argumentHint: "where" },
      { name: "fix", type: "prompt", description: "Fix an issue" },
      { name: "compact", type: "local", description: "Put a summary in the place of the conversation so far", argumentHint: "[focus]" },
      expect.objectContaining({ name: "queue", type: "local-ui" }),
    ]),
  );
  expect(all.some(({ name }) => name === "hidden")).toBe(false);
});
