import { components, type Ground, isWithin, normalize, roots } from "../path-sandbox.ts";
import { matchesComponents } from "../patterns.ts";

/** Directories that a machine, or all its people, live by. */
const SYSTEM = [
  ..."/bin /boot /dev /etc /home /lib /lib32 /lib64 /libx32 /media /mnt /nix /opt /proc /root /run /sbin /snap /srv /sys /usr /var".split(
    " ",
  ),
  ..."/Applications /Library /Network /System /Users /Volumes /cores /private".split(" "),
  ..."/usr/bin /usr/include /usr/lib /usr/lib32 /usr/lib64 /usr/libexec /usr/local /usr/sbin /usr/share /usr/src".split(" "),
  ..."/usr/local/bin /usr/local/etc /usr/local/include /usr/local/lib /usr/local/sbin /usr/local/share".split(" "),
  ..."/var/backups /var/cache /var/db /var/lib /var/log /var/mail /var/opt /var/root /var/run /var/spool /var/www".split(" "),
  ..."/etc/default /etc/init.d /etc/pam.d /etc/security /etc/ssh /etc/ssl /etc/systemd /etc/apt /boot/efi /boot/grub".split(" "),
  ..."/private/etc /private/var /private/tmp /System/Library /System/Volumes /Library/LaunchDaemons /Library/Preferences".split(" "),
  ..."/lib/modules /lib/systemd /var/lib/dpkg /var/lib/docker /var/lib/postgresql /var/lib/mysql /opt/homebrew".split(" "),
].map(components);
const SYSTEM_PATHS = new Set(SYSTEM.map((names) => `/${names.join("/")}`));

/**
 * Why losing this path would be a catastrophe: the root of the file system, a system directory, a home, or a folder that the project
 * lies in; also by a glob that matches one of them or all that is in it. The project itself is none.
 */
export function catastrophe(path: string, ground: Ground): string | undefined {
  const pattern = components(normalize(path));
  const last = pattern.at(-1);
  const isContent = last !== undefined && /^[.[\]!^*?]*[*?][.[\]!^*?]*$/.test(last);
  return (isContent ? catastrophicFolder(pattern.slice(0, -1), ground, true) : undefined) ?? catastrophicFolder(pattern, ground, false);
}

function catastrophicFolder(pattern: readonly string[], ground: Ground, isContent: boolean): string | undefined {
  const what = isContent ? "everything in " : "";
  if (pattern.length === 0) return `${what}the root of the file system`;
  const project = roots(ground)[0] ?? ground.root;
  const path = `/${pattern.join("/")}`;
  const hasGlob = /[*?[]/.test(path);
  if (!hasGlob && (path === ground.root || path === project)) return undefined;
  if (!hasGlob && (isWithin(project, path) || isWithin(ground.root, path))) return `${what}"${path}", which the project lies in`;
  if (!hasGlob && isWithin(path, project)) return undefined;
  const matches = (folder: readonly string[]) => matchesComponents(pattern, folder);
  if (matches(components(ground.home))) return `${what}the home directory`;
  if (pattern.length === 2 && (pattern[0] === "home" || pattern[0] === "Users")) return `${what}the home directory "${path}"`;
  const isSystem = hasGlob ? SYSTEM.some((folder) => folder.length === pattern.length && matches(folder)) : SYSTEM_PATHS.has(path);
  return isSystem ? `${what}the system directory "${path}"` : undefined;
}

/** The project, or all that is in it. */
export function isWholeProject(path: string, ground: Ground): boolean {
  const names = components(normalize(path));
  const last = names.at(-1);
  const isContent = last !== undefined && /^[.[\]!^*?]*[*?][.[\]!^*?]*$/.test(last);
  const folder = `/${(isContent ? names.slice(0, -1) : names).join("/")}`;
  return [ground.root, ...roots(ground)].includes(folder);
}
