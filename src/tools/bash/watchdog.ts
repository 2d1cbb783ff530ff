import { type ChildProcess, spawn } from "node:child_process";
import { ownEnvironment } from "../../platform/own-programs.ts";

/**
 * Waits until its input closes, which no end of the agent can prevent, then freezes and kills all that carries the mark. A plain shell:
 * it costs a millisecond to start and less than a megabyte while it sleeps.
 */
const SCRIPT = `
read -r _
round=0
while [ "$round" -lt 50 ]; do
  round=$((round + 1))
  pids=$(grep -lzsxF -e "$1" /proc/[0-9]*/environ | sed 's,^/proc/,,; s,/environ$,,')
  [ -n "$pids" ] || exit 0
  kill -STOP $pids 2>/dev/null
  kill -KILL $pids 2>/dev/null
done`;

/** Ends what an agent that was killed left running. Only where the system tells the environment of a process. */
export class Watchdog {
  readonly #child: ChildProcess | undefined;

  constructor(mark: string) {
    if (process.platform !== "linux") return;
    // In a session of its own: what ends the agent's group must not end it.
    this.#child = spawn("sh", ["-c", SCRIPT, "roocode-watchdog", mark], {
      detached: true,
      env: { PATH: ownEnvironment().PATH },
      stdio: ["pipe", "ignore", "ignore"],
    });
    this.#child.on("error", () => undefined);
    this.#child.stdin?.on("error", () => undefined);
    this.#child.unref();
    // A pipe to a child would keep the process.
    if (this.#child.stdin && "unref" in this.#child.stdin && typeof this.#child.stdin.unref === "function") this.#child.stdin.unref();
  }

  /** Everything is over: there is nothing to watch any more. */
  end(): void {
    this.#child?.kill("SIGKILL");
  }
}
