import { randomUUID } from "node:crypto";
import { readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { systemPrompt } from "../engine/system-prompt.ts";
import { instructionsReminder, loadInstructions } from "../memory/instructions.ts";
import { exists, isErrno } from "../platform/files.ts";
import { UserError } from "../protocol/errors.ts";
import type { UserMessage } from "../protocol/message.ts";
import type { ToolSpec } from "../protocol/model.ts";
import type { AskHuman, PermissionMode } from "../protocol/permission.ts";
import type { Tool } from "../protocol/tool.ts";
import type { AskUser } from "../tools/builtin/ask-user.ts";
import { type SessionMcp, startMcp } from "./mcp.ts";
import { type OpenedAgent, openAgent } from "./open-agent.ts";
import type { Surroundings } from "./surroundings.ts";
import { workTools } from "./toolset.ts";

export type SessionOptions = {
  maxTurns: number;
  /** Id of a session of this project to go on with, or "latest". */
  resume?: string | undefined;
  /** Files with MCP servers beside those of the user's settings. */
  mcpConfig?: readonly string[] | undefined;
  /** What the person typed since the last round. */
  steering?: () => string | undefined;
  askHuman?: AskHuman;
  askUser: AskUser;
};

export type OpenedSession = Omit<OpenedAgent, "model" | "shell"> & {
  id: string;
  mode(): PermissionMode;
  setMode(mode: PermissionMode): void;
  /** Of the model in use. */
  model(): string;
  /** Commands that calls wait for run on by themselves; gives their number. */
  toBackground(): number;
  mcpServers: SessionMcp["status"];
  /** The first message of a new conversation carries the instruction files. */
  message(text: string): UserMessage;
};

const MAIN_AGENT = "main";

/** A plain session of the main agent in this folder, new or gone on with. */
export async function openSession(surroundings: Surroundings, options: SessionOptions): Promise<OpenedSession> {
  const { settings, flags, data, projectRoot, cwd, root } = surroundings;
  const folder = data.sessions(projectRoot);
  const id = options.resume === undefined ? randomUUID() : await findSession(folder, options.resume);
  let mode = flags.permissionMode ?? settings.permissionMode ?? "default";
  // Before the first request: tools that come later would change what every request begins with.
  const mcp = await startMcp(surroundings, options.mcpConfig ?? []);
  const opened = await openAgent(surroundings, {
    name: MAIN_AGENT,
    root,
    cwd,
    mode: () => mode,
    maxTurns: options.maxTurns,
    sessionId: id,
    sessionPath: join(folder, `${id}.jsonl`),
    system: systemPrompt,
    tools: ({ shell, bash }) => [...workTools({ shell, bash, askUser: options.askUser, settings: settings.tools ?? {} }), ...mcp.tools],
    pending: async () => {
      const steering = options.steering?.();
      return steering === undefined ? undefined : { reminder: "", mail: [], steering };
    },
    askHuman: options.askHuman,
  }).catch(async (error: unknown) => {
    await mcp[Symbol.asyncDispose]();
    throw error;
  });
  const instructions = opened.isNew ? await loadInstructions(projectRoot, data.instructions) : undefined;
  let isFirst = true;
  let { model } = opened;
  return {
    ...opened,
    id,
    mode: () => mode,
    setMode(next) {
      mode = next;
    },
    model: () => model,
    useModel(name) {
      model = opened.useModel(name);
      return model;
    },
    toBackground: () => opened.shell.toBackground(),
    mcpServers: mcp.status,
    notes: [
      ...surroundings.warnings,
      ...(instructions?.notes ?? []),
      ...opened.notes,
      ...mcp.notes,
      ...notInSession(mcp.tools, opened.tools),
    ],
    message(text) {
      const reminder = isFirst && instructions ? [{ type: "text" as const, text: instructionsReminder(instructions.text) }] : [];
      isFirst = false;
      return { role: "user", content: [...reminder, { type: "text", text }] };
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([opened[Symbol.asyncDispose](), mcp[Symbol.asyncDispose]()]);
    },
  };
}

/** A session that goes on sends the tools that it began with. */
function notInSession(tools: readonly Tool[], sent: readonly ToolSpec[]): string[] {
  const known = new Set(sent.map((tool) => tool.name));
  const others = tools.filter((tool) => !known.has(tool.name)).map((tool) => tool.name);
  return others.length > 0 ? [`This session began without ${others.join(", ")}; a new one has them.`] : [];
}

async function findSession(folder: string, wanted: string): Promise<string> {
  if (wanted !== "latest") {
    if (/^[\w-]+$/.test(wanted) && (await exists(join(folder, `${wanted}.jsonl`)))) return wanted;
    throw new UserError(`There is no session "${wanted}" of this project. Sessions lie in ${folder}.`);
  }
  const names = await readdir(folder).catch((error: unknown) => {
    if (isErrno(error, "ENOENT")) return [];
    throw error;
  });
  const sessions = await Promise.all(
    names.filter((name) => name.endsWith(".jsonl")).map(async (name) => ({ name, at: (await stat(join(folder, name))).mtimeMs })),
  );
  const newest = sessions.sort((a, b) => b.at - a.at)[0];
  if (!newest) throw new UserError("There is no earlier session of this project to continue. Start one with: roocode");
  return basename(newest.name, ".jsonl");
}
