import { lstatSync } from "node:fs";
import { join } from "node:path";
import { PROTECTED_IN_HOME, SECRETS_IN_HOME } from "../protected-paths.ts";
import { gitPlaces } from "./git-places.ts";
import { type Guarded, inOrder, isInside, type Mount, type SandboxPlan, type SandboxPolicy } from "./policy.ts";
import { Protection, realOrUndefined } from "./protect.ts";
import { listeningSockets } from "./sockets.ts";

/** Holds keys only, or sockets of programs that do more than this user's commands may. */
const SECRETS = [
  ...SECRETS_IN_HOME.map((pattern) => pattern.filter((name) => name !== "**").join("/")),
  ...[".aws", ".kube", ".azure", ".password-store", ".git-credentials", ".pypirc", ".vault-token", ".pgpass", ".my.cnf"],
  ...[".config/gh", ".config/hub", ".config/op", ".config/git/credentials", ".config/containers/auth.json", ".local/share/keyrings"],
  ...[".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".terraform.d/credentials.tfrc.json"],
  ...[".mozilla", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware", "Library/Keychains"],
  ...[".docker/run", ".docker/desktop", ".colima", ".rd", ".orbstack", ".1password", ".lima"],
];
const TEMPORARY_FOLDERS = ["/tmp", "/var/tmp"];
/** What the programs of the machine talk through. */
const SOCKET_FOLDERS = ["/run", "/var/run"];
/** Named by resolv.conf or by the way to programs: they lie in a hidden folder and are needed. */
const NEEDED_IN_RUN = ["/run/current-system", "/run/booted-system", "/run/wrappers"];

/** What stands where inside the sandbox, by what is on the disk now. Makes the folders that it must be able to mount over. */
export function planSandbox(policy: SandboxPolicy): SandboxPlan {
  const writable = [...new Set([policy.root, ...policy.writable].flatMap((path) => realOrUndefined(path) ?? []))];
  const found = new Found(writable);
  for (const path of writable) found.mounts.push({ path, kind: "write" });
  for (const path of writable) if (isFolder(path)) found.addGit(gitPlaces(path, found.protection));
  if (policy.keepsPolicy) for (const path of writable) protectPolicy(path, found);
  const home = realOrUndefined(policy.home) ?? policy.home;
  const inHome = found.protection(writable);
  for (const pattern of PROTECTED_IN_HOME) inHome.add(join(home, ...pattern.filter((name) => name !== "**")));
  hideDataFolder(policy, found);
  for (const name of SECRETS) found.hide(join(home, name));
  for (const path of TEMPORARY_FOLDERS) if (isFolder(path) && !writable.includes(path)) found.mounts.push({ path, kind: "temp" });
  for (const path of SOCKET_FOLDERS) found.hide(path);
  for (const path of NEEDED_IN_RUN) found.show(path);
  if (policy.network === "on") found.show("/etc/resolv.conf");
  for (const path of [home, ...policy.readable]) found.show(path);
  for (const path of listeningSockets()) if (found.isSeen(path)) found.mounts.push({ path, kind: "hideFile" });
  const { temp, blank, network } = policy;
  return {
    mounts: inOrder(found.mounts),
    guarded: found.guarded,
    gitFolders: found.gitFolders,
    transient: found.transient,
    temp,
    blank,
    network,
  };
}

/** What RooCode obeys, in a folder that commands write to. Its plans are work, not policy. */
function protectPolicy(folder: string, found: Found): void {
  const own = found.protection([folder]);
  own.add(join(folder, ".mcp.json"));
  const policy = join(folder, ".roocode");
  const there = lstatSync(policy, { throwIfNoEntry: false });
  if (there === undefined) {
    found.transient.push(policy);
    found.mounts.push({ path: policy, kind: "read" });
    return;
  }
  own.add(policy);
  const plans = join(policy, "plans");
  if (there.isDirectory() && lstatSync(plans, { throwIfNoEntry: false })?.isDirectory()) found.mounts.push({ path: plans, kind: "write" });
}

/** Conversations, mail, tasks, keys, settings: nothing of it is a command's business but what is named. */
function hideDataFolder({ dataFolder, readable }: SandboxPolicy, found: Found): void {
  found.hide(dataFolder);
  if (realOrUndefined(dataFolder) === undefined) found.protection(found.writable).add(dataFolder);
  for (const path of [join(dataFolder, "worktrees"), ...readable]) found.show(path);
}

class Found {
  readonly mounts: Mount[] = [];
  readonly guarded: Guarded[] = [];
  readonly transient: string[] = [];
  readonly gitFolders: string[] = [];
  readonly writable: readonly string[];

  constructor(writable: readonly string[]) {
    this.writable = writable;
  }

  readonly protection = (writable: readonly string[]): Protection => new Protection(writable, this);

  addGit(places: readonly Mount[]): void {
    this.mounts.push(...places);
    this.gitFolders.push(...places.flatMap(({ path, kind }) => (kind === "write" ? path : [])));
  }

  /** For reading only; what may be written stays so. */
  show(path: string): void {
    const real = realOrUndefined(path);
    if (real === undefined || this.writable.some((folder) => isInside(real, folder))) return;
    if (!this.isSeen(real)) this.mounts.push({ path: real, kind: "read" });
  }

  hide(path: string): void {
    const real = realOrUndefined(path);
    if (real !== undefined && real !== "/") this.mounts.push({ path: real, kind: isFolder(real) ? "hideFolder" : "hideFile" });
  }

  isSeen(path: string): boolean {
    const above = inOrder(this.mounts).findLast((mount) => isInside(path, mount.path));
    return above === undefined || above.kind === "read" || above.kind === "write";
  }
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
