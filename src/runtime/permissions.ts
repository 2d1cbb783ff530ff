import { join } from "node:path";
import { projectPaths } from "../platform/paths.ts";
import type { AskHuman, Authorize, PermissionDecision, PermissionMode, PermissionRequest } from "../protocol/permission.ts";
import { auditFile } from "../safety/audit.ts";
import { createAuthorize } from "../safety/authorize.ts";
import { narrowestRules } from "../safety/narrowest-rule.ts";
import { addLocalRules, ruleReader } from "../safety/rule-files.ts";
import type { RuleSet } from "../safety/rules.ts";
import { maskSecrets } from "../safety/secrets.ts";
import { isTrusted, trustFolder } from "../safety/trust.ts";
import type { Surroundings } from "./surroundings.ts";

/** What a team adds to an agent's permissions. */
export type PermissionScope = {
  team?: { primaryCheckout: string; ownBranch: string; worktreesRoot: string };
  /** Rules that the system grants, valid for this agent alone. */
  granted?: readonly string[];
  /** Folders beside the root that file tools may use. */
  extraRoots?: readonly string[];
  auditPath?: string;
};

export type PermissionOptions = PermissionScope & {
  agent: string;
  root: string;
  cwd: () => string;
  mode: () => PermissionMode;
  askHuman?: AskHuman | undefined;
};

export type Permissions = {
  authorize: Authorize;
  maskSecrets: (text: string) => string;
  /** The rules that "always" would write, as shown to the person; undefined where it is not offered. */
  alwaysRule: (request: PermissionRequest, decision: PermissionDecision) => Promise<string | undefined>;
  /** Writes them into the project's local settings. */
  writeAlways: (request: PermissionRequest, decision: PermissionDecision) => Promise<void>;
  warnings: string[];
};

/** The five layers for one agent, with the rules of the primary checkout's three levels, read anew at each call. */
export async function createPermissions(surroundings: Surroundings, options: PermissionOptions): Promise<Permissions> {
  const { data, home, projectRoot, settings, flags } = surroundings;
  const project = projectPaths(projectRoot);
  const rules = ruleReader({ user: data.config, project: project.config, local: project.localConfig });
  const first = await rules();
  const trusted = await trustOf(first, surroundings);
  const place = { root: options.root, home };
  const narrowest = (request: PermissionRequest, decision: PermissionDecision) => narrowestRules(request, decision, place);
  return {
    authorize: createAuthorize({
      context: {
        root: options.root,
        cwd: options.cwd,
        home,
        dataFolder: data.root,
        extraRoots: [...(settings.addDirs ?? []), ...(flags.addDir ?? []), ...(options.extraRoots ?? [])],
        mode: options.mode,
        rules,
        isTrusted: trusted.isTrusted,
        ...(options.granted ? { granted: options.granted } : {}),
        ...(options.team ? { team: options.team } : {}),
        isHeadless: options.askHuman === undefined,
      },
      ...(options.askHuman ? { askHuman: options.askHuman } : {}),
      record: auditFile(options.auditPath ?? join(data.log, "audit.jsonl")),
      writeAlways: (found) => addLocalRules(project.localConfig, found),
    }),
    maskSecrets,
    alwaysRule: async (request, decision) => {
      const found = narrowest(request, decision);
      return found.length > 0 ? found.join(", ") : undefined;
    },
    writeAlways: (request, decision) => addLocalRules(project.localConfig, narrowest(request, decision)),
    warnings: [...first.warnings, ...trusted.warnings],
  };
}

/** A project's allow rules count once the person has accepted exactly these. */
async function trustOf(rules: RuleSet, { data, projectRoot, flags }: Surroundings): Promise<{ isTrusted: boolean; warnings: string[] }> {
  const items = rules.rules.filter((rule) => rule.level === "project" && rule.effect === "allow").map((rule) => rule.text);
  if (flags.trust && items.length > 0) await trustFolder(data.trust, projectRoot, items);
  if (await isTrusted(data.trust, projectRoot, items)) return { isTrusted: true, warnings: [] };
  return {
    isTrusted: false,
    warnings: [`This folder is not trusted: its allow rules are off (${items.join(", ")}). Accept them with --trust.`],
  };
}
