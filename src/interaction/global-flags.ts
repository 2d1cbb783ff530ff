import * as z from "zod";
import { PERMISSION_MODES } from "../protocol/permission.ts";
import type { GlobalFlags } from "../runtime/surroundings.ts";

const FlagsSchema = z.object({
  model: z.string().optional(),
  permissionMode: z.enum(PERMISSION_MODES).optional(),
  addDir: z.array(z.string()).optional(),
  trust: z.boolean().optional(),
  debug: z.boolean().optional(),
  maxCost: z.number().optional(),
  fallbackModel: z.string().optional(),
});

/** The flags that every command takes; yargs does not type them in nested commands. */
export function globalFlags(args: Record<string, unknown>): GlobalFlags {
  return FlagsSchema.parse(args);
}
