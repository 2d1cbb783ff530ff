import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isTrusted, trustFolder } from "../../src/safety/trust.ts";
import { tempFolder } from "../support/temp.ts";

test("a folder is trusted for what the person saw, under any of its names, and asks again when that changes", async () => {
  await using temp = await tempFolder("trust");
  const store = join(temp.path, "trust.json");
  const folder = join(temp.path, "proj");
  const alias = join(temp.path, "alias");
  await mkdir(folder);
  await symlink(folder, alias);
  expect(await isTrusted(store, folder, ["hook: npm run lint"])).toBe(false);
  await trustFolder(store, alias, ["hook: npm run lint", "server: db"]);
  expect(await isTrusted(store, folder, ["server: db", "hook: npm run lint"])).toBe(true);
  expect(await isTrusted(store, folder, ["hook: npm run lint; ./evil", "server: db"])).toBe(false);
  expect(await isTrusted(store, temp.path, ["server: db", "hook: npm run lint"])).toBe(false);
});

test("a folder that brings nothing to run needs no trust, and a broken store trusts nothing", async () => {
  await using temp = await tempFolder("trust");
  const store = join(temp.path, "trust.json");
  await writeFile(store, "{");
  expect(await isTrusted(store, temp.path, [])).toBe(true);
  expect(await isTrusted(store, temp.path, ["hook: x"])).toBe(false);
});
