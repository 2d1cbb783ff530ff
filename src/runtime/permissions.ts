import { projectPaths } from "../platform/paths.ts";
import type { AskHuman, Authorize, BeforeAsk, PermissionDecision, PermissionMode, PermissionRequest } from "../protocol/permission.ts";
import type { MayShow } from "../protocol/tool.ts";
import type { AllowList } from "../safety/allow-list.ts";
import { auditFile } from "../safety/audit.ts";
import { createAuthorize, createMayShow, type ForeignTools } from "../safety/authorize.ts";
import { narrowestRules } from "../safety/narrowest-rule.ts";
import { addLocalRules, ruleReader } from "../safety/rule-files.ts";
import type { RuleSet } from "../safety/rules.ts";
import { maskSecrets } from "../safety/secrets.ts";
import { memoryFolders } from "./memory-folders.ts";
import { projectTrust, untrustedText } from "./project-trust.ts";
import type { Surroundings } from "./surroundings.ts";

/** What a team adds to an agent's permissions. */
export type PermissionScope = {
  team?: { primaryCheckout: string; ownBranch: string; worktreesRoot: string };
  /** Rules that the system grants, valid for this agent alone. */
  granted?: readonly string[];
  /** Folders beside the root that file tools may use. */
  extraRoots?: readonly string[];
  /** Folders that may be read and never written. */
  readRoots?: readonly string[];
  auditPath?: string;
  /** Of servers: an approval holds for them as they are. */
  foreignTools?: ForeignTools;
  /** The tools that skills in use leave. */
  allowLists?: () => readonly AllowList[];
  /** The session's plan: in plan mode it alone is written without a question. */
  planFile?: string;
  /** Of commands only those that provably look are allowed. */
  onlyLooks?: boolean;
  /** While it is true nothing is changed but the plan file. */
  awaitsApproval?: () => boolean;
};

export type PermissionOptions = PermissionScope & {
  agent: string;
  session: string;
  root: string;
  cwd: () => string;
  mode: () => PermissionMode;
  askHuman?: AskHuman | undefined;
  beforeAsk?: BeforeAsk | undefined;
  /** Whether a command runs in the OS sandbox. */
  contains?: ((command: string) => Promise<boolean>) | undefined;
};

export type Permissions = {
  authorize: Authorize;
  /** Whether a file may be read without a question; leaves no line in the audit log. */
  mayRead: (path: string) => Promise<boolean>;
  /** Whether a rule that counts names the host of this address. */
  namesHost: (url: string) => Promise<boolean>;
  /** The same for the files that a search found. */
  mayShow: MayShow;
  maskSecrets: (text: string) => string;
  /** The rules that "always" would write, as shown to the person; undefined where it is not offered. */
  alwaysRule: (request: PermissionRequest, decision: PermissionDecision) => Promise<string | undefined>;
  /** Writes them into the project's local settings; `root` is that of the agent who asked, where it is another one. */
  writeAlways: (request: PermissionRequest, decision: PermissionDecision, root?: string) => Promise<void>;
  /** The person has accepted what the project brings. */
  isTrusted: boolean;
  /** Whether this, as `projectItems` names it, was part of what was accepted. */
  isAccepted: (item: string) => boolean;
  /** Folders beside the root that may be written to, by the settings and the flags. */
  addDirs: readonly string[];
  warnings: string[];
};

/** The five layers for one agent, with the rules of the primary checkout's three levels, read anew at each call. */
export async function createPermissions(surroundings: Surroundings, options: PermissionOptions): Promise<Permissions> {
  const { data, home, projectRoot, repository } = surroundings;
  const { localConfig } = projectPaths(projectRoot);
  const { rules, warnings, isTrusted, items, addDirs } = await projectRules(surroundings);
  const narrowest = (request: PermissionRequest, decision: PermissionDecision, root = options.root) =>
    narrowestRules(request, decision, { root, home });
  const addLocal = async (found: readonly string[]) => {
    const write = () => addLocalRules(localConfig, found);
    return repository ? write() : (await import("../safety/own-files.ts")).writeOwn(data.trust, localConfig, write);
  };
  const context = {
    root: options.root,
    cwd: options.cwd,
    home,
    dataFolder: data.root,
    extraRoots: [...addDirs, ...(options.extraRoots ?? [])],
    readRoots: [...memoryFolders(surroundings).map(({ path }) => path), ...(options.readRoots ?? [])],
    mode: options.mode,
    session: options.session,
    rules,
    isTrusted,
    ...(options.granted ? { granted: options.granted } : {}),
    ...(options.team ? { team: options.team } : {}),
    ...(options.planFile === undefined ? {} : { planFile: options.planFile }),
    ...(options.onlyLooks ? { onlyLooks: true } : {}),
    ...(options.awaitsApproval ? { awaitsApproval: options.awaitsApproval } : {}),
    isHeadless: options.askHuman === undefined,
    contains: options.contains,
    allowLists: options.allowLists,
  };
  const unasked = createAuthorize({ context: { ...context, isHeadless: true } });
  return {
    authorize: createAuthorize({
      context,
      ...(options.askHuman ? { askHuman: options.askHuman } : {}),
      beforeAsk: options.beforeAsk,
      ...(options.foreignTools ? { foreignTools: options.foreignTools } : {}),
      record: auditFile(options.auditPath ?? data.audit),
      writeAlways: addLocal,
    }),
    mayRead: async (path) => {
      const access = { kind: "read", subject: path, paths: [path] } as const;
      const { decision } = await unasked({ agent: options.agent, tool: "ReadFile", access }, new AbortController().signal);
      return decision === "allow";
    },
    namesHost: async (url) => {
      const [{ rules: all }, { ruleNamesHost }] = await Promise.all([rules(), import("../safety/web-rules.ts")]);
      return ruleNamesHost(all, url, isTrusted);
    },
    mayShow: createMayShow(options.agent, context),
    maskSecrets,
    alwaysRule: async (request, decision) => {
      const found = narrowest(request, decision);
      return found.length > 0 ? found.join(", ") : undefined;
    },
    isTrusted,
    isAccepted: (item) => isTrusted && items.includes(item),
    writeAlways: (request, decision, root) => addLocal(narrowest(request, decision, root)),
    addDirs,
    warnings,
  };
}

export type ProjectRules = {
  /** Of all three levels, read anew at each call. */
  rules: () => Promise<RuleSet>;
  isTrusted: boolean;
  /** What the project brings that needs trust. */
  items: readonly string[];
  addDirs: readonly string[];
  warnings: string[];
  /** One of the warnings: it is no mistake of anybody. */
  untrusted?: string;
};

/** What the settings allow here: the project's part of it once it is trusted. */
export async function projectRules(surroundings: Surroundings): Promise<ProjectRules> {
  const { data, projectRoot, isLocalForeign, addDirs } = surroundings;
  const { config, localConfig } = projectPaths(projectRoot);
  const { flags } = surroundings;
  const own =
    flags.allowedTools || flags.disallowedTools ? (await import("./flag-rules.ts")).flagRules(flags) : { rules: [], warnings: [] };
  const rules = ruleReader({ user: data.config, project: config, local: localConfig, isLocalForeign });
  const first = await rules();
  const { isTrusted, items } = await projectTrust(surroundings, first);
  const accepted = new Set(items);
  const untrusted = isTrusted ? undefined : untrustedText(items);
  return {
    // What the files allow from now on was never shown to anybody.
    rules: async () => {
      const set = await rules();
      const counting = set.rules.filter(
        ({ level, effect, text }) => level !== "project" || effect !== "allow" || accepted.has(`allow ${text}`),
      );
      return { ...set, rules: [...own.rules, ...counting] };
    },
    isTrusted,
    items,
    addDirs: isTrusted ? [...addDirs.own, ...addDirs.project] : addDirs.own,
    warnings: [...first.warnings, ...own.warnings, ...(untrusted === undefined ? [] : [untrusted])],
    ...(untrusted === undefined ? {} : { untrusted }),
  };
}
