import type { Hooks, RunHookAgent } from "../protocol/hook.ts";
import type { Surroundings } from "./surroundings.ts";

export type OpenedHooks = Hooks &
  AsyncDisposable & {
    /** By this the hooks' `agent` actions are run from now on. */
    runAgentsBy(run: RunHookAgent): void;
  };

/** A variable of everything that a hook starts. */
const INSIDE = "ROOCODE_HOOKS";

/**
 * The hooks of the settings, for all agents of this process. Undefined where there is none, and then nothing was loaded; also in a roocode
 * that a hook started, which would start itself without end. `note` is told what is wrong, now and later.
 */
export async function openHooks(surroundings: Surroundings, note: (text: string) => void): Promise<OpenedHooks | undefined> {
  if (!hasHooks(surroundings) || surroundings.env[INSIDE] !== undefined) return undefined;
  const [{ hooksInForce }, { runningHooks }, { maskSecrets }] = await Promise.all([
    import("./hooks-in-force.ts"),
    import("../tools/hooks/fire.ts"),
    import("../safety/secrets.ts"),
  ]);
  const { hooks, problems } = await hooksInForce(surroundings);
  for (const problem of problems) note(problem);
  if (hooks.length === 0) return undefined;
  const { home, projectRoot, root, env } = surroundings;
  let runAgent: RunHookAgent | undefined;
  const running = runningHooks(hooks, { ground: { home, projectRoot, root }, env, note, maskSecrets, runAgent: () => runAgent });
  return {
    ...running,
    runAgentsBy(run) {
      runAgent = run;
    },
  };
}

function hasHooks({ settings, projectWish }: Surroundings): boolean {
  return settings.hooks !== undefined || projectWish.hooks.length > 0;
}
