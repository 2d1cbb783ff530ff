import { stat } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { type ListSessionsResponse, type McpServer, RequestError } from "@agentclientprotocol/sdk";
import { exists } from "../../platform/files.ts";
import { type GlobalFlags, readSurroundings, type Surroundings } from "../../runtime/surroundings.ts";
import type { Editor } from "./editor.ts";
import { modeNamed } from "./modes.ts";
import { replay } from "./replay.ts";
import { givenServers } from "./servers.ts";
import { AcpSession } from "./session.ts";

export type AcpArguments = GlobalFlags & { maxTurns: number; mcpConfig?: readonly string[] | undefined };
type Place = { cwd: string; mcpServers?: readonly McpServer[]; additionalDirectories?: readonly string[] };

/** The conversations that the editor has open in this process. */
export class AcpSessions implements AsyncDisposable {
  readonly #args: AcpArguments;
  readonly #editor: Editor;
  readonly #open = new Map<string, AcpSession>();
  /** Opened one after another: the same one twice at once would be two. */
  #opening: Promise<unknown> = Promise.resolve();
  #isOver = false;

  constructor(args: AcpArguments, editor: Editor) {
    this.#args = args;
    this.#editor = editor;
  }

  async begin(place: Place): Promise<AcpSession> {
    const surroundings = await this.#surroundings(place);
    return this.#inTurn(() => this.#add(surroundings, place));
  }

  /** Goes on with a session of the folder's project; with `isReplayed` all that was said is told first. */
  async goOn(sessionId: string, place: Place, isReplayed: boolean): Promise<AcpSession> {
    const surroundings = await this.#surroundings(place);
    const folder = surroundings.data.sessions(surroundings.projectRoot);
    if (!/^[\w-]+$/.test(sessionId) || !(await exists(join(folder, `${sessionId}.jsonl`)))) throw RequestError.sessionNotFound(sessionId);
    return this.#inTurn(async () => {
      await this.#letGo(sessionId);
      const session = await this.#add(surroundings, place, sessionId);
      if (isReplayed) for (const update of replay(session.path, surroundings.cwd)) await this.#editor.update(sessionId, update);
      return session;
    });
  }

  find(sessionId: string): AcpSession | undefined {
    return this.#open.get(sessionId);
  }

  get(sessionId: string): AcpSession {
    const session = this.find(sessionId);
    if (!session) throw RequestError.sessionNotFound(sessionId);
    return session;
  }

  async setMode(sessionId: string, modeId: string): Promise<void> {
    const session = this.get(sessionId);
    const mode = modeNamed(modeId);
    if (!mode) throw RequestError.invalidParams({ modeId }, `there is no mode "${modeId}"`);
    await session.setMode(mode);
  }

  async close(sessionId: string): Promise<void> {
    const session = this.get(sessionId);
    this.#open.delete(sessionId);
    await session[Symbol.asyncDispose]();
  }

  async list(cwd: string): Promise<ListSessionsResponse> {
    const { data, projectRoot } = await this.#surroundings({ cwd });
    const { listSessions } = await import("../../memory/session-list.ts");
    return {
      sessions: listSessions(data.sessions(projectRoot)).map(({ id, name, firstPrompt, cwd: began, lastAt }) => ({
        sessionId: id,
        cwd: began,
        title: name ?? firstPrompt,
        updatedAt: lastAt,
      })),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    for (const session of this.#open.values()) session.cancel();
    await this.#opening;
    await Promise.all([...this.#open.values()].map((session) => session[Symbol.asyncDispose]()));
  }

  async #add(surroundings: Surroundings, { mcpServers = [] }: Place, resume?: string): Promise<AcpSession> {
    const { maxTurns, mcpConfig } = this.#args;
    const session = await AcpSession.open(
      { surroundings, maxTurns, mcpConfig, servers: givenServers(mcpServers), ...(resume === undefined ? {} : { resume }) },
      this.#editor,
    );
    this.#open.set(session.id, session);
    return session;
  }

  /** An editor that loads what it has open here wants it anew. */
  async #letGo(sessionId: string): Promise<void> {
    const session = this.#open.get(sessionId);
    if (session?.isRunning) throw RequestError.invalidRequest(undefined, "a prompt runs in this session; send session/cancel first");
    if (session) await this.close(sessionId);
  }

  #inTurn<Result>(open: () => Promise<Result>): Promise<Result> {
    const turn = this.#opening.then(() => {
      if (this.#isOver) throw RequestError.requestCancelled(undefined, "the editor is gone");
      return open();
    });
    // Its failure is told to who asked for it, and holds up nobody behind it.
    this.#opening = turn.catch(() => undefined);
    return turn;
  }

  async #surroundings({ cwd, additionalDirectories = [] }: Place): Promise<Surroundings> {
    if (!isAbsolute(cwd)) throw RequestError.invalidParams({ cwd }, "cwd must be a full path");
    const found = await stat(cwd).catch(() => undefined);
    if (!found?.isDirectory()) throw RequestError.invalidParams({ cwd }, `there is no folder ${cwd}`);
    const addDir = [...(this.#args.addDir ?? []), ...additionalDirectories];
    return readSurroundings(cwd, process.env, { ...this.#args, ...(addDir.length > 0 ? { addDir } : {}) });
  }
}
