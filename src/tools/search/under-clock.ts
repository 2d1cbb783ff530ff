import { createContext, Script } from "node:vm";

/**
 * Runs work that may not end, like the match of a regular expression that somebody else wrote, for at most `totalMs` over all calls;
 * undefined once they are over. Only the interpreter's own clock can end such a match.
 */
export function underClock(totalMs: number): <T>(work: () => T) => T | undefined {
  const script = new Script("run()");
  let left = totalMs;
  return (work) => {
    if (left <= 1) return undefined;
    const began = performance.now();
    let result: ReturnType<typeof work> | undefined;
    const context = createContext({
      run: () => {
        result = work();
      },
    });
    try {
      script.runInContext(context, { timeout: Math.ceil(left) });
      return result;
    } catch (error) {
      // It may be an Error of the other context, which is no instance of ours.
      if (typeof error === "object" && error !== null && "code" in error && error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT") return undefined;
      throw error;
    } finally {
      left -= performance.now() - began;
    }
  };
}
