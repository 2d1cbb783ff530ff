import { runCommand } from "../../platform/process.ts";

const PROBE_MS = 10_000;
const PROFILE = ["--unshare-all", "--die-with-parent", "--cap-drop", "ALL", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"];

/** `reason` says why there is none, `mend` what to do. */
export type Probe = { works: true } | { works: false; reason: string; mend: string };

/** Runs `true` inside: a bwrap that is there may still be forbidden to make namespaces. */
export async function probeSandbox(platform = process.platform, program = "bwrap"): Promise<Probe> {
  if (platform === "darwin") return unusable("the profile for macOS is not in use yet", "Commands run as they are.");
  if (platform !== "linux") return unusable(`there is none for ${platform}`, "Use Linux (or WSL 2) to have one.");
  const run = await runCommand(program, ["--unshare-user", ...PROFILE, "true"], { timeoutMs: PROBE_MS });
  if (run.missing) return unusable("bwrap is not installed", "Install bubblewrap (apt install bubblewrap, dnf install bubblewrap).");
  if (run.exitCode === 0) return { works: true };
  const [first = ""] = run.stderr.trim().split("\n", 1);
  return unusable(`bwrap does not start (${first || `exit code ${run.exitCode}`})`, mendOf(first));
}

function mendOf(text: string): string {
  if (/setting up uid map|permission denied|creating new namespace|not permitted/i.test(text))
    return "Allow user namespaces: sysctl kernel.unprivileged_userns_clone=1, or on Ubuntu an AppArmor profile for bwrap (kernel.apparmor_restrict_unprivileged_userns); in a container, run it with them.";
  return "Update bubblewrap to 0.5 or newer.";
}

function unusable(reason: string, mend: string): Probe {
  return { works: false, reason, mend };
}
