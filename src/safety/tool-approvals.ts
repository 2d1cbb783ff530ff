import { createHash } from "node:crypto";
import { isUnwritable } from "../platform/files.ts";
import type { ApprovedTool } from "./trust-store.ts";
import { changeTrustStore, readTrustStore } from "./trust-store.ts";

/** A tool as its server describes it now. `origin` stands for the server and how it is started. */
export type ForeignTool = { origin: string; name: string; description: string; inputSchema: unknown };

/** `difference` is for the person: a model would read the server's new words as a part of the denial. */
export type ToolChange = { reason: string; difference: string };

export type ToolApprovals = {
  /** Undefined for a tool that is as it was when it was allowed, and for one that never was. */
  change(tool: ForeignTool): Promise<ToolChange | undefined>;
  /** The tool may be called as it is now. */
  approve(tool: ForeignTool): Promise<void>;
};

const MAX_SHOWN = 2_000;

/** An approval of a server's tool is one of its name, description and schema; it is kept in the trust store. */
export function toolApprovals(storePath: string, now = () => new Date()): ToolApprovals {
  /** Of this process, also where the store can't be written. */
  const own = new Map<string, ApprovedTool>();
  const approved = async (tool: ForeignTool) => own.get(keyOf(tool)) ?? (await readTrustStore(storePath)).tools[keyOf(tool)];
  return {
    async change(tool) {
      const before = await approved(tool);
      const is = entryOf(tool, now());
      if (before === undefined || before.hash === is.hash) return undefined;
      return {
        reason: `${tool.name} is not as it was when it was allowed: its server changed ${what(before, is)}`,
        difference: [
          ...(before.description === is.description ? [] : lineDifference(before.description, is.description)),
          ...lineDifference(before.schema, is.schema),
        ]
          .join("\n")
          .slice(0, MAX_SHOWN),
      };
    },
    async approve(tool) {
      const is = entryOf(tool, now());
      if ((await approved(tool))?.hash === is.hash) return;
      own.set(keyOf(tool), is);
      try {
        await changeTrustStore(storePath, (store) => ({ ...store, tools: { ...store.tools, [keyOf(tool)]: is } }));
      } catch (error) {
        // It holds for this process; the next one sees the tool for the first time.
        if (!isUnwritable(error)) throw error;
      }
    },
  };
}

function keyOf({ origin, name }: ForeignTool): string {
  return `${name} of ${origin}`;
}

function entryOf({ name, description, inputSchema }: ForeignTool, at: Date): ApprovedTool {
  const schema = JSON.stringify(inputSchema, undefined, 1);
  const hash = createHash("sha256")
    .update(JSON.stringify([name, description, schema]))
    .digest("hex");
  return { hash, description, schema, at: at.toISOString() };
}

function what(before: ApprovedTool, is: ApprovedTool): string {
  if (before.description === is.description) return "its input schema";
  return before.schema === is.schema ? "its description" : "its description and its input schema";
}

/** Lines that went and lines that came, in this order. */
function lineDifference(before: string, after: string): string[] {
  const [old, now] = [before.split("\n"), after.split("\n")];
  return [
    ...old.filter((line) => !now.includes(line)).map((line) => `- ${line}`),
    ...now.filter((line) => !old.includes(line)).map((line) => `+ ${line}`),
  ];
}
