import { runCommand } from "../../platform/process.ts";

const PROBE_MS = 10_000;
const PROFILE = ["--unshare-all", "--die-with-parent", "--cap-drop", "ALL", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"];

/** `reason` says why there is none, `mend` what to do. */
export type Probe = { works: true } | { works: false; reason: string; mend: string };

/** Runs `true` inside: a bwrap that is there may still be forbidden to make namespaces. `isWanted`: the person asked for it by name. */
export async function probeSandbox(isWanted = false, platform = process.platform, program = "bwrap"): Promise<Probe> {
  if (platform === "darwin") return probeSeatbelt(isWanted);
  if (platform !== "linux") return unusable(`there is none for ${platform}`, "Use Linux (or WSL 2) to have one.");
  const run = await runCommand(program, ["--unshare-user", ...PROFILE, "true"], { timeoutMs: PROBE_MS });
  if (run.missing) return unusable("bwrap is not installed", "Install bubblewrap (apt install bubblewrap, dnf install bubblewrap).");
  if (run.exitCode === 0) return { works: true };
  const [first = ""] = run.stderr.trim().split("\n", 1);
  return unusable(`bwrap does not start (${first || `exit code ${run.exitCode}`})`, mendOf(first));
}

/** Its profile was never run: nobody is given it unasked. */
async function probeSeatbelt(isWanted: boolean): Promise<Probe> {
  if (!isWanted) return unusable("the one for macOS has not been tried yet", "sandbox: required turns it on.");
  const run = await runCommand("sandbox-exec", ["-p", "(version 1)(allow default)", "true"], { timeoutMs: PROBE_MS });
  return run.exitCode === 0 ? { works: true } : unusable("sandbox-exec does not start", "It is part of macOS; look at its PATH.");
}

function mendOf(text: string): string {
  if (/setting up uid map|permission denied|creating new namespace|not permitted/i.test(text))
    return "Allow user namespaces: sysctl kernel.unprivileged_userns_clone=1, or on Ubuntu an AppArmor profile for bwrap (kernel.apparmor_restrict_unprivileged_userns); in a container, run it with them.";
  return "Update bubblewrap to 0.5 or newer.";
}

function unusable(reason: string, mend: string): Probe {
  return { works: false, reason, mend };
}
