/** The demo's repository by path: a small auth module whose tests run with plain `node --test`. */
export const SAMPLE_REPOSITORY: Readonly<Record<string, string>> = {
  "package.json": `{
  "name": "auth-sample",
  "version": "1.0.0",
  "description": "Sample of roocode demo: passwords, sessions, login",
  "private": true,
  "type": "module",
  "scripts": { "test": "node --test" }
}
`,
  "README.md": `# auth-sample

Passwords, sessions and login in a few lines. Run the tests with \`node --test\`.

## Known gaps

- Sessions never end.
- A password can be guessed as often as one likes.
`,
  "src/limits.js": `/** What the module allows; one place for all numbers. */
export const limits = {
  minPasswordLength: 8,
};
`,
  "src/password.js": `import { randomBytes, scryptSync, timingSafeEqual } from "node:crypto";
import { limits } from "./limits.js";

/** @param {string} password */
export function hashPassword(password) {
  if (password.length < limits.minPasswordLength) throw new Error("The password is too short.");
  const salt = randomBytes(16).toString("hex");
  return \`\${salt}:\${scryptSync(password, salt, 32).toString("hex")}\`;
}

/** @param {string} password @param {string} stored */
export function verifyPassword(password, stored) {
  const [salt, hash] = stored.split(":");
  return timingSafeEqual(Buffer.from(hash, "hex"), scryptSync(password, salt, 32));
}
`,
  "src/session.js": `import { randomUUID } from "node:crypto";

/** @param {string} user */
export function createSession(user) {
  return { id: randomUUID(), user };
}

/** @param {{ user: string }} session */
export function isValid(session) {
  return session.user !== "";
}
`,
  "src/login.js": `import { verifyPassword } from "./password.js";
import { createSession } from "./session.js";

/** A session, or undefined when the name or the password is wrong. @param {Map<string, string>} users */
export function login(users, name, password) {
  const stored = users.get(name);
  if (stored === undefined || !verifyPassword(password, stored)) return undefined;
  return createSession(name);
}
`,
  "test/password.test.js": `import assert from "node:assert/strict";
import { test } from "node:test";
import { hashPassword, verifyPassword } from "../src/password.js";

test("a password fits its own hash only", () => {
  const stored = hashPassword("correct horse");
  assert.equal(verifyPassword("correct horse", stored), true);
  assert.equal(verifyPassword("battery staple", stored), false);
});

test("a short password is refused", () => {
  assert.throws(() => hashPassword("short"), /too short/);
});
`,
  "test/session.test.js": `import assert from "node:assert/strict";
import { test } from "node:test";
import { createSession, isValid } from "../src/session.js";

test("a new session is valid", () => {
  assert.equal(isValid(createSession("ada")), true);
});
`,
  "test/login.test.js": `import assert from "node:assert/strict";
import { test } from "node:test";
import { login } from "../src/login.js";
import { hashPassword } from "../src/password.js";

const users = new Map([["ada", hashPassword("correct horse")]]);

test("the right password opens a session", () => {
  assert.equal(login(users, "ada", "correct horse")?.user, "ada");
});

test("a wrong password or name opens none", () => {
  assert.equal(login(users, "ada", "battery staple"), undefined);
  assert.equal(login(users, "bob", "correct horse"), undefined);
});
`,
};
