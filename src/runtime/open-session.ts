import { randomUUID } from "node:crypto";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { selectModel } from "../engine/providers/select.ts";
import { withRetry } from "../engine/retry.ts";
import { systemPrompt } from "../engine/system-prompt.ts";
import { instructionsReminder, loadInstructions } from "../memory/instructions.ts";
import { createSession, openSession as openSessionFile } from "../memory/session-file.ts";
import { isErrno } from "../platform/files.ts";
import type { Agent } from "../protocol/agent.ts";
import { UserError } from "../protocol/errors.ts";
import type { UserMessage } from "../protocol/message.ts";
import type { ToolSpec } from "../protocol/model.ts";
import type { AskHuman, PermissionMode } from "../protocol/permission.ts";
import type { AskUser } from "../tools/builtin/ask-user.ts";
import { ShellState, shellEnvironment } from "../tools/builtin/bash.ts";
import { createAgent } from "./create-agent.ts";
import { createPermissions } from "./permissions.ts";
import { environmentOf, type Surroundings } from "./surroundings.ts";
import { toApiFormat, workTools } from "./toolset.ts";

export type SessionOptions = {
  maxTurns: number;
  /** Id of a session of this project to go on with, or "latest". */
  resume?: string;
  askHuman?: AskHuman;
  askUser: AskUser;
};

export type OpenedSession = AsyncDisposable & {
  agent: Agent;
  id: string;
  model: string;
  mode: PermissionMode;
  tools: readonly ToolSpec[];
  notes: string[];
  /** The first message of a new conversation carries the instruction files. */
  message(text: string): UserMessage;
};

export const MAIN_AGENT = "main";

/** A plain session of the main agent in this folder, new or gone on with. */
export async function openSession(surroundings: Surroundings, options: SessionOptions): Promise<OpenedSession> {
  const { settings, flags, env, data, projectRoot, cwd } = surroundings;
  const folder = data.sessions(projectRoot);
  const resumed = options.resume === undefined ? undefined : await openSessionFile(await sessionPath(folder, options.resume));
  const wanted = flags.model ?? resumed?.loaded.header.model ?? env.ROOCODE_MODEL ?? settings.model;
  const selected = await selectModel({
    ...(settings.providers ? { providers: settings.providers } : {}),
    ...(wanted ? { model: wanted } : {}),
    env,
  });
  const mode = flags.permissionMode ?? settings.permissionMode ?? "default";
  const id = resumed?.session.id ?? randomUUID();
  const spillFolder = join(folder, `${id}.results`);

  const shell = new ShellState(cwd);
  const permissions = await createPermissions(surroundings, {
    agent: MAIN_AGENT,
    root: surroundings.root,
    cwd: () => shell.cwd,
    mode: () => mode,
    ...(options.askHuman ? { askHuman: options.askHuman } : {}),
  });
  const tools = workTools({
    shell,
    bash: {
      outputFolder: spillFolder,
      env: shellEnvironment(env),
      isReadOnly: permissions.isReadOnly,
      maskSecrets: permissions.maskSecrets,
      ...(settings.tools?.bashTimeout ? { defaultTimeoutMs: settings.tools.bashTimeout } : {}),
    },
    askUser: options.askUser,
    settings: settings.tools ?? {},
  });
  const system = resumed?.loaded.header.system ?? systemPrompt(environmentOf(surroundings));
  const toolSpecs = resumed?.loaded.header.tools ?? toApiFormat(tools);
  const session =
    resumed?.session ??
    createSession(join(folder, `${id}.jsonl`), {
      type: "header",
      version: 1,
      id,
      cwd,
      at: new Date().toISOString(),
      agent: MAIN_AGENT,
      model: `${selected.provider}/${selected.model}`,
      system,
      tools: toolSpecs,
    });
  const history = resumed?.loaded.history ?? [];
  const agent = createAgent(
    { name: MAIN_AGENT, system, tools, model: selected.model, cwd, mode, maxTurns: options.maxTurns, history },
    {
      client: withRetry(selected.client),
      maxTokens: selected.maxOutputTokens,
      authorize: permissions.authorize,
      session,
      spillFolder,
      toolSpecs,
    },
  );
  const instructions = history.length === 0 ? await loadInstructions(projectRoot, data.instructions) : undefined;
  let isFirst = true;
  return {
    agent,
    id,
    model: selected.model,
    mode,
    tools: toolSpecs,
    notes: [...surroundings.warnings, ...permissions.warnings, ...(instructions?.notes ?? []), ...(resumed?.loaded.notes ?? [])],
    message(text) {
      const reminder = isFirst && instructions ? [{ type: "text" as const, text: instructionsReminder(instructions.text) }] : [];
      isFirst = false;
      return { role: "user", content: [...reminder, { type: "text", text }] };
    },
    async [Symbol.asyncDispose]() {
      await shell[Symbol.asyncDispose]();
      session.close();
    },
  };
}

async function sessionPath(folder: string, wanted: string): Promise<string> {
  if (wanted !== "latest") {
    const path = join(folder, `${wanted}.jsonl`);
    if (
      await stat(path).then(
        (found) => found.isFile(),
        () => false,
      )
    )
      return path;
    throw new UserError(`There is no session "${wanted}" of this project. Sessions lie in ${folder}.`);
  }
  const names = await readdir(folder).catch((error: unknown) => {
    if (isErrno(error, "ENOENT")) return [];
    throw error;
  });
  const sessions = await Promise.all(
    names
      .filter((name) => name.endsWith(".jsonl"))
      .map(async (name) => ({ path: join(folder, name), at: (await stat(join(folder, name))).mtimeMs })),
  );
  const newest = sessions.sort((a, b) => b.at - a.at)[0];
  if (!newest) throw new UserError("There is no earlier session of this project to continue. Start one with: roocode");
  return newest.path;
}
