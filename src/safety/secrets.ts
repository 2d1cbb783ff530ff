type SecretKind = { name: string; pattern: RegExp };

/** Sixteen kinds. Each has an anchor that ordinary text lacks; the group, where there is one, is the part to blank out. */
const SECRETS: readonly SecretKind[] = [
  { name: "private key", pattern: /-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY-----[\s\S]*?(?:-----END (?:[A-Z0-9]+ )*PRIVATE KEY-----|$)/g },
  { name: "Anthropic key", pattern: /\bsk-ant-[A-Za-z0-9_-]{16,}/g },
  { name: "OpenAI key", pattern: /\bsk-(?:proj-|svcacct-|admin-|or-v1-)?[A-Za-z0-9_-]{20,}/g },
  { name: "AWS key id", pattern: /\b(?:AKIA|ASIA|AGPA|AROA)[A-Z0-9]{16}\b/g },
  { name: "AWS secret", pattern: /aws_?(?:secret_?access_?key|session_?token)["'\s]*[:=]["'\s]*([A-Za-z0-9/+=]{40,})/gi },
  { name: "GitHub token", pattern: /\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{22,})/g },
  { name: "GitLab token", pattern: /\bgl(?:pat|dt|rt|cbt|ptt|ft|soat)-[A-Za-z0-9_-]{20,}/g },
  { name: "Slack token", pattern: /\bxox[abeoprs]-[A-Za-z0-9-]{10,}|https:\/\/hooks\.slack\.com\/services\/[A-Za-z0-9/]{20,}/g },
  { name: "Google key", pattern: /\bAIza[A-Za-z0-9_-]{35}|\bya29\.[A-Za-z0-9_-]{20,}/g },
  { name: "Stripe key", pattern: /\b(?:sk|rk|whsec)_(?:live_|test_)?[A-Za-z0-9]{20,}/g },
  { name: "npm token", pattern: /\bnpm_[A-Za-z0-9]{36}|_authToken\s*=\s*([^\s"']{8,})/g },
  { name: "PyPI token", pattern: /\bpypi-[A-Za-z0-9_-]{32,}/g },
  { name: "web token", pattern: /\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}/g },
  { name: "bearer token", pattern: /\b(?:bearer|basic)\s+([A-Za-z0-9._~+/-]{20,}=*)/gi },
  { name: "password in an address", pattern: /\b[a-z][a-z0-9+.-]*:\/\/[^\s:/@"']+:([^\s/@"']{3,})@/gi },
  {
    name: "named secret",
    pattern:
      /\b[\w-]*(?:api[_-]?key|secret|token|passw(?:or)?d|client[_-]?secret|private[_-]?key)["']?\s*[:=]\s*["']?(?!process\.env|os\.environ|import\.meta|\$|<|\{|[a-z_]+\(|(?:null|undefined|true|false|none)\b)([^\s"',;}{)(]{12,})/gi,
  },
];

export const SECRET_KINDS = SECRETS.length;

/** The text with every secret that is recognised replaced by its kind. */
export function maskSecrets(text: string): string {
  return SECRETS.reduce((masked, { name, pattern }) => {
    return masked.replace(pattern, (whole: string, ...groups: unknown[]) => {
      const [secret] = groups;
      const mark = `[${name} hidden]`;
      if (whole.includes(" hidden]")) return whole;
      return typeof secret === "string" && secret !== "" ? whole.replace(secret, () => mark) : mark;
    });
  }, text);
}
