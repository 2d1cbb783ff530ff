import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { selectModel } from "../engine/providers/select.ts";
import { withRetry } from "../engine/retry.ts";
import type { Environment } from "../engine/system-prompt.ts";
import { createSession, hasHeader, openSession as openSessionFile, type SessionFile } from "../memory/session-file.ts";
import type { Agent, Pending } from "../protocol/agent.ts";
import type { ToolSpec } from "../protocol/model.ts";
import type { AskHuman, PermissionMode } from "../protocol/permission.ts";
import type { Tool } from "../protocol/tool.ts";
import type { BashOptions } from "../tools/builtin/bash.ts";
import { ShellState, shellEnvironment } from "../tools/builtin/bash.ts";
import { createAgent } from "./create-agent.ts";
import { createPermissions, type PermissionScope, type Permissions } from "./permissions.ts";
import { environmentOf, type Surroundings } from "./surroundings.ts";
import { toApiFormat } from "./toolset.ts";

export type AgentRequest = {
  name: string;
  /** File tools may touch what lies in here. */
  root: string;
  cwd: string;
  mode: () => PermissionMode;
  maxTurns: number;
  model?: string | undefined;
  sessionId: string;
  /** A session that is there goes on, with its system prompt and tools; else it begins here. */
  sessionPath: string;
  system: (environment: Environment) => string;
  tools: (parts: { shell: ShellState; bash: BashOptions; mail: ReadonlySet<string> }) => readonly Tool[];
  pending?: () => Promise<Pending | undefined>;
  askHuman?: AskHuman | undefined;
  scope?: PermissionScope;
  /** Added to what commands see, for example an identity for git. */
  shellEnv?: NodeJS.ProcessEnv;
};

export type OpenedAgent = AsyncDisposable & {
  agent: Agent;
  session: SessionFile;
  model: string;
  tools: readonly ToolSpec[];
  permissions: Permissions;
  /** Ids of the mail that the conversation holds. */
  mail: ReadonlySet<string>;
  isNew: boolean;
  notes: string[];
};

/** The same steps for the main agent, the lead, a teammate and the integrator: model, session, permissions, tools, loop. */
export async function openAgent(surroundings: Surroundings, request: AgentRequest): Promise<OpenedAgent> {
  const { settings, env } = surroundings;
  const { sessionPath, sessionId: id } = request;
  const old = (await hasHeader(sessionPath)) ? await openSessionFile(sessionPath) : undefined;
  const wanted = surroundings.flags.model ?? request.model ?? old?.loaded.header.model ?? env.ROOCODE_MODEL ?? settings.model;
  const selected = selectModel({ providers: settings.providers ?? [], model: wanted, env, cacheKey: id });

  const spillFolder = sessionPath.replace(/\.jsonl$/, ".results");
  const shell = new ShellState(request.cwd);
  const permissions = await createPermissions(surroundings, {
    agent: request.name,
    root: request.root,
    cwd: () => shell.cwd,
    mode: request.mode,
    askHuman: request.askHuman,
    ...request.scope,
    // A result that went to disk is read from there.
    extraRoots: [spillFolder, ...(request.scope?.extraRoots ?? [])],
  });
  const bash: BashOptions = {
    outputFolder: spillFolder,
    env: shellEnvironment(env, request.shellEnv),
    maskSecrets: permissions.maskSecrets,
    ...(settings.tools?.bashTimeout ? { defaultTimeoutMs: settings.tools.bashTimeout } : {}),
  };
  const mail = old?.loaded.mail ?? new Set<string>();
  const tools = request.tools({ shell, bash, mail });
  const system = old?.loaded.header.system ?? request.system(environmentOf({ ...surroundings, cwd: request.cwd }));
  const toolSpecs = old?.loaded.header.tools ?? toApiFormat(tools);
  mkdirSync(dirname(sessionPath), { recursive: true, mode: 0o700 });
  const session =
    old?.session ??
    createSession(sessionPath, {
      type: "header",
      version: 1,
      id,
      cwd: request.cwd,
      at: new Date().toISOString(),
      agent: request.name,
      model: `${selected.provider}/${selected.model}`,
      system,
      tools: toolSpecs,
    });
  const agent = createAgent(
    {
      name: request.name,
      system,
      tools,
      model: selected.model,
      cwd: request.cwd,
      mode: request.mode(),
      maxTurns: request.maxTurns,
      history: old?.loaded.history ?? [],
      ...(request.pending ? { pending: request.pending } : {}),
    },
    {
      client: withRetry(selected.client),
      maxTokens: selected.maxOutputTokens,
      authorize: permissions.authorize,
      session,
      spillFolder,
      toolSpecs,
    },
  );
  return {
    agent,
    session,
    model: selected.model,
    tools: toolSpecs,
    permissions,
    mail,
    isNew: old === undefined || old.loaded.history.length === 0,
    notes: [...(selected.notice ? [selected.notice] : []), ...permissions.warnings, ...(old?.loaded.notes ?? [])],
    async [Symbol.asyncDispose]() {
      await shell[Symbol.asyncDispose]();
      session.close();
    },
  };
}
