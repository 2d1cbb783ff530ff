import type { HookEventName } from "../protocol/hook.ts";
import { maskSecrets } from "../safety/secrets.ts";
import type { Hook } from "../tools/hooks/schema.ts";
import { hooksInForce } from "./hooks-in-force.ts";
import type { Surroundings } from "./surroundings.ts";

export type ShownHook = {
  event: HookEventName;
  if?: string;
  action: Hook["action"]["type"];
  /** The command, the words or the address. */
  what: string;
  timeout: number;
  async: boolean;
  level: Hook["level"];
  place: string;
  /** off: the project's, not accepted yet. */
  state: "on" | "off";
};
export type HookReport = { hooks: ShownHook[]; problems: string[] };

/** All hooks of the settings here, in the order in which they run. */
export async function hookReport(surroundings: Surroundings): Promise<HookReport> {
  const { hooks, untrusted, problems } = await hooksInForce(surroundings);
  return { hooks: [...hooks.map((hook) => shown(hook, "on")), ...untrusted.map((hook) => shown(hook, "off"))], problems };
}

/** One line for a person. */
export function hookLine({ event, if: condition, action, what, timeout, async: isAsync, place, state }: ShownHook): string {
  const when = condition === undefined ? "" : ` if ${condition}`;
  const how = `${timeout} s${isAsync ? ", async" : ""}`;
  return `${event}${when}: ${action} ${JSON.stringify(what.slice(0, 200))} (${how}; ${place})${state === "off" ? " [off: this folder is not trusted]" : ""}`;
}

export function shown({ event, condition, action, timeoutMs, isAsync, level, place }: Hook, state: ShownHook["state"]): ShownHook {
  const what = action.type === "command" ? action.command : action.type === "http" ? action.url : action.prompt;
  return {
    event,
    ...(condition === undefined ? {} : { if: condition.text }),
    action: action.type,
    what: maskSecrets(what),
    timeout: timeoutMs / 1_000,
    async: isAsync,
    level,
    place,
    state,
  };
}
