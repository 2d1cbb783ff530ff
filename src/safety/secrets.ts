type SecretKind = { name: string; pattern: RegExp };

/** Each kind has an anchor that ordinary text lacks; the group, where there is one, is the part to blank out. */
const SECRETS: readonly SecretKind[] = [
  {
    name: "private key",
    pattern: /-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|$)/g,
  },
  { name: "Anthropic key", pattern: /\bsk-ant-[A-Za-z0-9_-]{16,}/g },
  { name: "OpenAI key", pattern: /\bsk-(?:proj-|svcacct-|admin-|or-v1-)?(?=[A-Za-z0-9_-]*\d)[A-Za-z0-9_-]{20,}/g },
  { name: "AWS key id", pattern: /\b(?:AKIA|ASIA|AGPA|AROA)[A-Z0-9]{16}\b/g },
  { name: "AWS secret", pattern: /aws_?(?:secret_?access_?key|session_?token)["'\s]*[:=]["'\s]*([A-Za-z0-9/+=]{40,})/gi },
  { name: "GitHub token", pattern: /\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{22,})/g },
  { name: "GitLab token", pattern: /\bgl(?:pat|dt|rt|cbt|ptt|ft|soat)-[A-Za-z0-9_-]{20,}/g },
  {
    name: "Slack token",
    pattern: /\bxox[abeoprs]-[A-Za-z0-9-]{10,}|\bxapp-\d-[A-Za-z0-9-]{20,}|https:\/\/hooks\.slack\.com\/services\/[A-Za-z0-9/]{20,}/g,
  },
  { name: "Google key", pattern: /\bAIza[A-Za-z0-9_-]{35}|\bya29\.[A-Za-z0-9_-]{20,}|\bGOCSPX-[A-Za-z0-9_-]{20,}/g },
  { name: "Stripe key", pattern: /\b(?:sk|rk|whsec)_(?:live_|test_)?[A-Za-z0-9]{20,}/g },
  { name: "npm token", pattern: /\bnpm_[A-Za-z0-9]{36}|_authToken\s*=\s*(?!\$)([^\s"']{8,})/g },
  { name: "PyPI token", pattern: /\bpypi-[A-Za-z0-9_-]{32,}/g },
  { name: "Hugging Face token", pattern: /\bhf_[A-Za-z0-9]{30,}/g },
  { name: "SendGrid key", pattern: /\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}/g },
  { name: "DigitalOcean token", pattern: /\bdo[opr]_v1_[a-f0-9]{40,}/g },
  { name: "Azure key", pattern: /\b(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{40,}={0,2})/g },
  { name: "web token", pattern: /\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}/g },
  { name: "bearer token", pattern: /\b(?:bearer|basic)\s+(?=[A-Za-z0-9._~+/-]*\d)([A-Za-z0-9._~+/-]{20,}=*)/gi },
  { name: "password in an address", pattern: /\b[a-z][a-z0-9+.-]*:\/\/[^\s:/@"']+:(?!\$|<|\{|\*+@|x+@)([^\s/@"']{3,})@/gi },
  {
    name: "named secret",
    pattern:
      /\b[\w-]*(?:api[_-]?key|secret|token|passw(?:or)?d|passphrase|client[_-]?secret|private[_-]?key|access[_-]?key)["']?\s*[:=]\s*["']?(?!process\.env|os\.environ|import\.meta|env\.|\$|<|\{|\[|\/|\.\/|[A-Za-z_][\w.]*\(|(?:null|undefined|true|false|none)\b)(?=[^\s"',;}{)(]*\d)([^\s"',;}{)(]{12,})/gi,
  },
];

export const SECRET_KINDS = SECRETS.map(({ name }) => name);

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

const KEY_BEGIN = /-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----/g;
const KEY_END = /-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----/;
/** No key is longer: what comes then is text behind a beginning that had no end. */
const MAX_KEY_CHARACTERS = 16_384;

/** Masks a text that comes in pieces of whole lines: a private key that begins in one ends in another. */
export function secretMasker(): (text: string) => string {
  let inKey = 0;
  return (piece) => {
    let text = piece;
    if (inKey > 0) {
      const end = KEY_END.exec(text);
      if (!end && inKey + text.length <= MAX_KEY_CHARACTERS) {
        inKey += text.length;
        return "";
      }
      inKey = 0;
      if (end) text = text.slice(end.index + end[0].length);
    }
    const begin = [...text.matchAll(KEY_BEGIN)].at(-1);
    if (begin && !KEY_END.test(text.slice(begin.index))) inKey = text.length - begin.index;
    // The end of a key whose beginning was not seen.
    const end = KEY_END.exec(text);
    const first = text.search(KEY_BEGIN);
    if (end && (first < 0 || first > end.index)) text = withoutKeyLines(text, end.index);
    return maskSecrets(text);
  };
}

function withoutKeyLines(text: string, end: number): string {
  const before = text.slice(0, end);
  return before.replace(/(?:^|\n)(?:[A-Za-z0-9+/=]{1,76}\n)+$/, "\n[private key hidden]\n") + text.slice(end);
}
