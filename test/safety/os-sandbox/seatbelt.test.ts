import { expect, test } from "vitest";
import { inOrder } from "../../../src/safety/os-sandbox/policy.ts";
import { seatbeltProfile } from "../../../src/safety/os-sandbox/seatbelt.ts";

const plan = {
  mounts: inOrder([
    { path: "/Users/a/.roocode", kind: "hideFolder" },
    { path: "/Users/a/.netrc", kind: "hideFile" },
    { path: "/Users/a/repo/.git/config", kind: "read" },
    { path: "/Users/a/repo/.git", kind: "write" },
    { path: "/Users/a/.roocode/worktrees", kind: "read" },
    { path: "/Users/a/repo", kind: "write" },
  ]),
  guarded: [{ path: "/Users/a/repo/.mcp.json", link: undefined, from: "/" }],
  gitFolders: [],
  transient: [],
  temp: "/private/var/x/tmp",
  blank: "/private/var/x/blank",
  network: "off" as const,
};

/** What the last line that names this path or a folder above it says. */
function verdict(profile: string, operation: string, path: string): string | undefined {
  const lines = profile.split("\n").filter((line) => {
    const names = [...line.matchAll(/\((subpath|literal) "([^"]*)"\)/g)];
    const isMeant =
      names.length === 0 || names.some(([, kind, name = ""]) => path === name || (kind === "subpath" && path.startsWith(`${name}/`)));
    return isMeant && line.includes(` ${operation}*`);
  });
  return /^\((\w+)/.exec(lines.at(-1) ?? "")?.[1];
}

test("the profile for macOS says of each path what the plan says of it", () => {
  const profile = seatbeltProfile(plan);
  const write = (path: string) => verdict(profile, "file-write", path);
  const read = (path: string) => verdict(profile, "file-read", path);
  expect([write("/Users/a/repo/src/x"), write("/private/var/x/tmp/y"), write("/Users/a/repo/.git/index")]).toEqual([
    "allow",
    "allow",
    "allow",
  ]);
  for (const path of [
    "/etc/hosts",
    "/Users/a/notes",
    "/Users/a/repo/.git/config",
    "/Users/a/repo/.mcp.json",
    "/Users/a/.roocode/worktrees/b/x",
  ])
    expect(write(path), path).toBe("deny");
  expect([read("/Users/a/.roocode/teams/t/keys/bob"), read("/Users/a/.netrc"), read("/Users/a/.roocode/worktrees/b/x")]).toEqual([
    "deny",
    "deny",
    "allow",
  ]);
});

test("the profile for macOS closes the network, or Unix sockets alone", () => {
  expect(seatbeltProfile(plan)).toContain("(deny network*)");
  const open = seatbeltProfile({ ...plan, network: "on" });
  expect(open).not.toContain("(deny network*)");
  expect(open).toContain("(deny network-outbound (remote unix-socket))");
});

test("a path can't end its string in the profile for macOS", () => {
  const evil = 'x")) (allow default) ;\\';
  const profile = seatbeltProfile({ ...plan, mounts: [{ path: `/Users/a/${evil}`, kind: "write" }] });
  expect(profile).toContain('(subpath "/Users/a/x\\")) (allow default) ;\\\\")');
});
