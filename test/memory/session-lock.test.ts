import { type ChildProcess, fork } from "node:child_process";
import { readdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { lockSession, sessionOwner } from "../../src/memory/session-lock.ts";
import { selfIdentity } from "../../src/platform/process.ts";
import { tempFolder } from "../support/temp.ts";

const TAKER = decodeURIComponent(new URL("../support/take-lock.ts", import.meta.url).pathname);

test("a session that is open is refused to a second one, with the owner's pid and the way to fork, until it is given back", async () => {
  await using folder = await tempFolder();
  const path = join(folder.path, "s1.jsonl");
  const lock = lockSession(path);
  expect(() => lockSession(path)).toThrow(new RegExp(`pid ${process.pid}.*--resume s1 --fork-session`));
  expect(sessionOwner(path)).toMatchObject({ pid: process.pid });
  lock[Symbol.dispose]();
  expect(sessionOwner(path)).toBeUndefined();
  using _again = lockSession(path);
  expect(await readdir(folder.path)).toEqual(["s1.lock"]);
});

test("the lock of an owner that is gone, or whose pid another process has now, is taken over and leaves nothing behind", async () => {
  await using folder = await tempFolder();
  const path = join(folder.path, "s1.jsonl");
  await symlink(`${process.pid} another-boot/1`, join(folder.path, "s1.lock"));
  await symlink("4194304 x", join(folder.path, "s1.lock.1"));
  expect(sessionOwner(path)).toBeUndefined();
  const lock = lockSession(path);
  expect(await readdir(folder.path)).toEqual(["s1.lock.2"]);
  expect(sessionOwner(path)).toEqual(selfIdentity());
  lock[Symbol.dispose]();
  expect(await readdir(folder.path)).toEqual([]);
});

test("of processes that take over a dead owner's lock at the same time exactly one gets it, again and again", async () => {
  await using folder = await tempFolder();
  const takers = Array.from({ length: 4 }, () => fork(TAKER, { execArgv: ["--import", "tsx"], stdio: "inherit" }));
  try {
    for (const taker of takers) await answerOf(taker);
    for (let round = 0; round < 25; round += 1) {
      const path = join(folder.path, `s${round}.jsonl`);
      await symlink("4194304 x", join(folder.path, `s${round}.lock`));
      const answers = await Promise.all(
        takers.map((taker) => {
          taker.send({ path });
          return answerOf(taker);
        }),
      );
      expect(answers.filter((answer) => answer === "taken")).toHaveLength(1);
    }
  } finally {
    for (const taker of takers) taker.disconnect();
  }
});

function answerOf(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve) => child.once("message", resolve));
}
