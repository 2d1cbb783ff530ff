import * as z from "zod";
import { ProvidersSchema } from "../engine/providers/settings.ts";
import { PERMISSION_MODES } from "../protocol/permission.ts";
import { BACKEND_KINDS } from "../protocol/team.ts";
import { readHostRule } from "../safety/os-sandbox/allowed-hosts.ts";
import { THEME_NAMES } from "./theme-names.ts";

export const ToolsSchema = z.object({
  allowWrite: z.boolean().optional(),
  allowBash: z.boolean().optional(),
  bashTimeout: z.int().min(1).max(600_000).optional(),
});
export const TeamSchema = z.object({
  teammates: z.int().min(1).max(16).optional(),
  backend: z.enum(["auto", ...BACKEND_KINDS]).optional(),
  check: z.string().optional(),
  orphanTimeoutMs: z.int().min(0).optional(),
  worktree: z
    .strictObject({
      setup: z.string().min(1).optional(),
      teardown: z.string().min(1).optional(),
      ports: z.strictObject({ from: z.int().min(1024).max(65_535).optional(), size: z.int().min(1).max(1_000).optional() }).optional(),
    })
    .optional(),
  pane: z
    .strictObject({
      open: z.array(z.string()).refine((words) => words.includes("{command}"), { error: 'needs "{command}" as a word of its own' }),
      close: z.array(z.string()).min(1).optional(),
    })
    .optional(),
});

const isHostRule = (text: string): boolean => readHostRule(text) !== undefined;
const HOST_RULE = "is no host; write example.org, *.example.org or example.org:8443";

export const SANDBOX_MODES = ["off", "auto", "required"] as const;
/** `sandbox: required` is short for `sandbox: {mode: required}`. */
const SandboxSchema = z.preprocess(
  (value) => (typeof value === "string" ? { mode: value } : value === false ? { mode: "off" } : value),
  z.strictObject({
    mode: z.enum(SANDBOX_MODES).optional(),
    network: z
      .preprocess(
        (value) => (value === true ? "on" : value === false ? "off" : value),
        z.union(
          [
            z.enum(["off", "on"]),
            z
              .array(z.string().refine(isHostRule, { error: HOST_RULE }))
              .min(1, { error: "a list of hosts names at least one, such as example.org" }),
          ],
          {
            error: 'off, on, or a list of hosts such as ["example.org", "*.example.org"]',
          },
        ),
      )
      .optional(),
    writable: z.array(z.string().min(1)).optional(),
    excluded: z.array(z.string().min(1)).optional(),
  }),
);

/**
 * Settings of one level. In a file of its own: most runs find no settings, and building the schema costs milliseconds.
 * Sections that a room owns are checked by that room; here they only have to be there.
 */
export const SettingsSchema = z.looseObject({
  model: z.string().optional(),
  fallbackModel: z.string().optional(),
  providers: ProvidersSchema.optional(),
  permissionMode: z.enum(PERMISSION_MODES).optional(),
  permissions: z.looseObject({}).optional(),
  addDirs: z.array(z.string()).optional(),
  tools: ToolsSchema.optional(),
  hooks: z.unknown().optional(),
  mcpServers: z.unknown().optional(),
  toolLoading: z.enum(["append", "native", "proxy"]).optional(),
  sandbox: SandboxSchema.optional(),
  team: TeamSchema.optional(),
  enableVerificationAgent: z.boolean().optional(),
  autoMemory: z.boolean().optional(),
  screen: z.enum(["auto", "full", "plain"]).optional(),
  theme: z.enum(THEME_NAMES).optional(),
  notify: z.enum(["auto", "off", "bell", "osc9", "osc777"]).optional(),
  updateCheck: z.boolean().optional(),
});
export type Settings = Pick<
  z.output<typeof SettingsSchema>,
  | "model"
  | "fallbackModel"
  | "providers"
  | "permissionMode"
  | "addDirs"
  | "tools"
  | "hooks"
  | "mcpServers"
  | "toolLoading"
  | "sandbox"
  | "team"
  | "autoMemory"
  | "screen"
  | "theme"
  | "notify"
  | "updateCheck"
  | "enableVerificationAgent"
>;
