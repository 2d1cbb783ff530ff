import type { ToolSpec } from "../protocol/model.ts";
import type { Tool } from "../protocol/tool.ts";
import { toApiFormat } from "./toolset.ts";

export type AgentToolsOptions = {
  /** Callable from the beginning. */
  tools: readonly Tool[];
  /** What the requests of this conversation name already, in their order; else `tools` in a stable order. */
  sent?: readonly ToolSpec[] | undefined;
  /** Told of what was put at the end, before the next request: the session keeps it. */
  onAdd?: ((specs: readonly ToolSpec[]) => void) | undefined;
};

/**
 * The tools of one conversation: those that may be called, and those that its requests name. What is found later stands at the end of
 * the array, in the order of its discovery, and never goes: a request begins with the bytes of the one before.
 */
export class AgentTools {
  /** May hold less than `sent`: a tool of an earlier process may be gone. */
  readonly callable: Map<string, Tool>;
  readonly #sent: ToolSpec[];
  readonly #names: Set<string>;
  readonly #onAdd: AgentToolsOptions["onAdd"];

  constructor({ tools, sent, onAdd }: AgentToolsOptions) {
    this.callable = new Map(tools.map((tool) => [tool.name, tool]));
    this.#sent = [...(sent ?? toApiFormat(tools))];
    this.#names = new Set(this.#sent.map(({ name }) => name));
    this.#onAdd = onAdd;
  }

  /** The same array for the whole conversation; it grows in place. */
  get sent(): readonly ToolSpec[] {
    return this.#sent;
  }

  /**
   * They may be called at once, and the next request names them. One that is there under its name takes that one's place in calls only.
   * Gives the names that are new in the requests.
   */
  add(tools: readonly Tool[], isDeferred = false): string[] {
    for (const tool of tools) this.callable.set(tool.name, tool);
    const specs = tools
      .filter(({ name }, index) => !this.#names.has(name) && tools.findIndex((one) => one.name === name) === index)
      .map(({ name, description, inputSchema }) => ({ name, description, inputSchema, ...(isDeferred ? { isDeferred } : {}) }));
    if (specs.length === 0) return [];
    for (const { name } of specs) this.#names.add(name);
    this.#onAdd?.(specs);
    this.#sent.push(...specs);
    return specs.map(({ name }) => name);
  }
}
