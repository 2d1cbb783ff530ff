import { expect, test } from "vitest";
import { maskSecrets, SECRET_KINDS } from "../../src/safety/secrets.ts";

const long = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0";
// Put together here, so that no scanner takes this file for a leak.
const samples: readonly [string, string][] = [
  ["private key", `-----BEGIN RSA ${"PRIVATE"} KEY-----\n${long}\n-----END RSA ${"PRIVATE"} KEY-----`],
  ["Anthropic key", `sk-${"ant"}-api03-${long}`],
  ["OpenAI key", `sk-${"proj"}-${long}`],
  ["AWS key id", `AK${"IA"}ABCDEFGHIJKLMNOP`],
  ["AWS secret", `aws_secret_${"access_key"} = ${long}`],
  ["GitHub token", `gh${"p"}_${long.slice(0, 36)}`],
  ["GitLab token", `gl${"pat"}-${long.slice(0, 20)}`],
  ["Slack token", `xo${"xb"}-1234567890-${long.slice(0, 20)}`],
  ["Google key", `AI${"za"}${long.slice(0, 35)}`],
  ["Stripe key", `sk_${"live"}_${long.slice(0, 24)}`],
  ["npm token", `np${"m"}_${long.slice(0, 36)}`],
  ["PyPI token", `py${"pi"}-${long}`],
  ["web token", `ey${"J"}hbGciOiJIUzI1.ey${"J"}zdWIiOiIxMjM0.${long.slice(0, 20)}`],
  ["bearer token", `Authorization: Bearer ${long}`],
  ["password in an address", "postgres://dev:hunter2hunter2@db.example/app"],
  ["named secret", `DB_PASSWORD="${long.slice(0, 16)}"`],
];

test("each of the sixteen kinds of secrets is blanked out", () => {
  expect(samples.map(([kind]) => kind)).toHaveLength(SECRET_KINDS);
  for (const [kind, sample] of samples) {
    const masked = maskSecrets(`before ${sample} after`);
    expect(masked).toContain(`[${kind} hidden]`);
    expect(masked).not.toContain(long.slice(0, 12));
    expect(masked).toMatch(/^before [\s\S]* after$/);
  }
});

test("what only looks like one stays readable", () => {
  const plain = [
    "const token = process.env.GITHUB_TOKEN;",
    "password: string;",
    'import { apiKey } from "./keys.ts";',
    "https://github.com/org/repo.git",
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
    "tokens: 12345, maxTokens = 4096",
    "task-based work; risk-free-trial-of-something",
  ];
  for (const line of plain) expect(maskSecrets(line)).toBe(line);
});
