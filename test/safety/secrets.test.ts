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
  ["Hugging Face token", `h${"f"}_${long.replaceAll(/\d/g, "x").slice(0, 34)}`],
  ["SendGrid key", `S${"G"}.${long.slice(0, 22)}.${long}`],
  ["DigitalOcean token", `do${"p"}_v1_${"0123456789abcdef".repeat(4)}`],
  ["Azure key", `AccountName=x;Account${"Key"}=${long.repeat(2)}==`],
  ["web token", `ey${"J"}hbGciOiJIUzI1.ey${"J"}zdWIiOiIxMjM0.${long.slice(0, 20)}`],
  ["bearer token", `Authorization: Bearer ${long}`],
  ["password in an address", "postgres://dev:hunter2hunter2@db.example/app"],
  ["named secret", `DB_PASSWORD="${long.slice(0, 16)}"`],
];

test("each of the twenty kinds of secrets is blanked out", () => {
  expect(samples.map(([kind]) => kind)).toEqual(SECRET_KINDS);
  expect(samples).toHaveLength(20);
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
    "sk-button-primary-hover-and-active-state",
    "const token = tokenizer.nextToken(source1, options2);",
    "secret: ./config/secret-store-2.yaml",
    "API_KEY=${API_KEY_FROM_VAULT_2}",
    "password: '<your-password-123>'",
    "basic authentication-header-parsing is documented in chapter",
    "postgres://user:${DB_PASSWORD}@localhost/app",
    "npm warn deprecated npm_config_something is no longer read",
    "//registry.example/:_authToken=${NPM_TOKEN}",
    "sha512-9Ol/2Q7YqR3WpC0cT1mJk1d1VYVQ2dF0QKTYzVxvJvNfGkq2bR7x0Yf3v5sG6mQm2iQ3c1u5r9w8Jm0dQ==",
    "id: 550e8400-e29b-41d4-a716-446655440000",
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    "secretariat-of-the-2nd-department = open",
    "PASSWORD_FIELD_LABEL = settings.labels.password1",
  ];
  for (const line of plain) expect(maskSecrets(line)).toBe(line);
});
