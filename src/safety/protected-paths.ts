/** Names that no file tool writes, wherever they stand below a root: `**` is everything below, the entry itself included. */
const PROTECTED_NAMES: readonly (readonly string[])[] = [
  [".git", "**"],
  [".roocode", "config.yaml"],
  [".roocode", "config.local.yaml"],
  [".roocode", "agents", "**"],
  [".roocode", "skills", "**"],
  [".roocode", "commands", "**"],
  // What stands there is read into every later session.
  [".roocode", "memory", "**"],
  [".mcp.json"],
];

/** Files of the home that start programs or hold what opens other doors. */
export const PROTECTED_IN_HOME: readonly (readonly string[])[] = [
  ...[".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile"],
  ...[".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc", ".login", ".logout"],
  ...[".inputrc", ".xprofile", ".xinitrc", ".xsession", ".xsessionrc", ".pam_environment", ".gitconfig", ".netrc", ".crontab"],
]
  .map((name) => [name])
  .concat([
    [".ssh", "**"],
    [".gnupg", "**"],
    [".aws", "**"],
    [".kube", "**"],
    [".docker", "config.json"],
    [".config", "git", "**"],
    [".config", "fish", "**"],
    [".config", "gcloud", "**"],
    [".config", "systemd", "**"],
    [".config", "autostart", "**"],
    ["Library", "LaunchAgents", "**"],
    ["Library", "LaunchDaemons", "**"],
  ]);

export const SECRETS_IN_HOME: readonly (readonly string[])[] = [
  [".ssh", "**"],
  [".aws", "credentials"],
  [".gnupg", "**"],
  [".netrc"],
  [".config", "gcloud", "**"],
  [".kube", "config"],
  [".docker", "config.json"],
];

const SYSTEM_FILES: readonly (readonly string[])[] = [
  ["var", "spool", "cron", "**"],
  ["etc", "crontab"],
  ["etc", "cron.d", "**"],
];

const PUBLIC_IN_SSH = /^(known_hosts(\.old)?|config|.*\.pub)$/;
const HARMLESS_ENV = /^\.env\.(example|sample|template)$/;

export type NameCheck = { isProtected: boolean; isPolicy: boolean; isSticky: boolean; isSecret: boolean; reason: string };
export const FREE: NameCheck = { isProtected: false, isPolicy: false, isSticky: false, isSecret: false, reason: "" };

/** A file system that ignores case, ignorable code points, trailing dots or streams must not open a second spelling. */
function fold(name: string): string {
  if (/^[\w-][\w.-]*[\w-]$|^\.[\w-]+$/.test(name)) return name.toLowerCase();
  const folded = name
    .normalize("NFC")
    .replace(/\p{Default_Ignorable_Code_Point}/gu, "")
    .toLowerCase()
    .replace(/:.*$/s, "")
    .replace(/[. ]+$/, "");
  if (/^git~\d$/.test(folded)) return ".git";
  if (/^roocod~\d$/.test(folded)) return ".roocode";
  if (/^mcp~\d(\.jso?n?)?$/.test(folded)) return ".mcp.json";
  return folded;
}

/** `below` are the components under the root (or all of them, outside of one). `isPolicy`: what RooCode or git obeys. */
export function checkWriteNames(below: readonly string[]): NameCheck {
  const names = below.map(fold);
  for (let start = 0; start < names.length; start++) {
    if (PROTECTED_NAMES.some((pattern) => startsAt(names, start, pattern)))
      return {
        ...FREE,
        isProtected: true,
        isPolicy: true,
        reason: `"${below.slice(start).join("/")}" is protected: no tool writes it`,
      };
  }
  const last = names.at(-1) ?? "";
  const inWorkflows = names.some((name, index) => name === ".github" && names[index + 1] === "workflows" && names.length > index + 2);
  if (last === ".gitattributes" || last === "roocode.md" || inWorkflows)
    return { ...FREE, isSticky: true, reason: `"${below.join("/")}" steers programs or agents, so a person confirms each change` };
  return checkEnvName(below);
}

export function checkEnvName(below: readonly string[]): NameCheck {
  const last = fold(below.at(-1) ?? "");
  if (!last.startsWith(".env") || HARMLESS_ENV.test(last)) return FREE;
  return { ...FREE, isSticky: true, isSecret: true, reason: `"${below.join("/")}" may hold secrets, so a person confirms each access` };
}

/** The folder of git or of the policy itself, or the file: what must not be moved, removed or replaced as a whole. */
export function isPolicyContainer(below: readonly string[]): boolean {
  const last = fold(below.at(-1) ?? "");
  return last === ".git" || last === ".roocode";
}

export function checkHomeWrite(belowHome: readonly string[]): NameCheck {
  const names = belowHome.map(fold);
  const hit = PROTECTED_IN_HOME.some((pattern) => startsAt(names, 0, pattern.map(fold)));
  return hit ? { ...FREE, isProtected: true, reason: `"~/${belowHome.join("/")}" starts programs or holds keys: no tool writes it` } : FREE;
}

export function checkHomeRead(belowHome: readonly string[]): NameCheck {
  const names = belowHome.map(fold);
  if (names[0] === ".ssh" && names.length === 2 && PUBLIC_IN_SSH.test(names[1] ?? "")) return FREE;
  const hit = SECRETS_IN_HOME.some((pattern) => startsAt(names, 0, pattern));
  return hit ? { ...FREE, isProtected: true, isSecret: true, reason: `"~/${belowHome.join("/")}" is a secret: no tool reads it` } : FREE;
}

/** A recursive reader that starts here reaches a secret of the home. */
export function containsHomeSecret(belowHome: readonly string[]): boolean {
  return SECRETS_IN_HOME.some(
    (pattern) => belowHome.length < pattern.length && belowHome.every((name, index) => fold(name) === pattern[index]),
  );
}

export function checkSystemWrite(components: readonly string[]): NameCheck {
  const hit = SYSTEM_FILES.some((pattern) => startsAt(components.map(fold), 0, pattern));
  return hit ? { ...FREE, isProtected: true, reason: `"/${components.join("/")}" starts programs: no tool writes it` } : FREE;
}

function startsAt(names: readonly string[], start: number, pattern: readonly string[]): boolean {
  const open = pattern.at(-1) === "**";
  const fixed = open ? pattern.slice(0, -1) : pattern;
  if (!open && names.length - start !== fixed.length) return false;
  return names.length - start >= fixed.length && fixed.every((name, index) => names[start + index] === name);
}
