import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { SelectedModel } from "../engine/providers/select.ts";
import type { RetryingClient } from "../engine/retry.ts";
import { createCompactor } from "../memory/compact/compactor.ts";
import type { Compactor } from "../protocol/memory.ts";
import type { ToolSpec } from "../protocol/model.ts";
import type { Permissions } from "./permissions.ts";

/** More than the new history could hold of one file. */
const MAX_BYTES = 256 * 1024;

export type CompactionParts = {
  system: string;
  toolSpecs: readonly ToolSpec[];
  cwd: () => string;
  permissions: Permissions;
  /** What the new history must begin with, as it is then. */
  preserve: () => Promise<string[]>;
};

/** The second layer of memory for this conversation with this model. */
export function openCompactor(selected: SelectedModel, client: RetryingClient, parts: CompactionParts): Compactor {
  const { system, toolSpecs, cwd, permissions, preserve } = parts;
  return createCompactor({
    model: selected.model,
    window: selected.contextWindow,
    maxOutputTokens: selected.maxOutputTokens,
    system,
    toolSpecs,
    ask: (request, signal) => client.stream(request, signal),
    preserve,
    async readFile(path) {
      const file = resolve(cwd(), path);
      // It was there once and may be anything now.
      const found = await stat(file).catch(() => undefined);
      if (!found?.isFile() || found.size > MAX_BYTES || !(await permissions.mayRead(file))) return undefined;
      const text = await readFile(file, "utf8").catch(() => undefined);
      return text === undefined || text.includes("\0") ? undefined : permissions.maskSecrets(text);
    },
  });
}
