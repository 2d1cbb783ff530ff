import { join, resolve } from "node:path";
import { findSession, latestSession } from "../../memory/find-session.ts";
import { allEntries, loadSession, requireHeader } from "../../memory/load-session.ts";
import { parts } from "../../memory/session-export/parts.ts";
import { SessionFile } from "../../memory/session-file.ts";
import { forkSession } from "../../memory/session-fork.ts";
import { listSessions } from "../../memory/session-list.ts";
import { lockSession, sessionOwner } from "../../memory/session-lock.ts";
import { oldSessions, readAge, removeSession } from "../../memory/session-prune.ts";
import { type SearchHit, searchSession } from "../../memory/session-search.ts";
import { UserError } from "../../protocol/errors.ts";
import { type GlobalFlags, readSurroundings } from "../../runtime/surroundings.ts";
import { plainText } from "../../tools/bash/plain-text.ts";
import { outliveOutput } from "../lost-output.ts";
import { sessionName } from "../session-name.ts";
import { exportPieces, writePieces } from "../session-page.ts";
import { summaryLine } from "../session-summary.ts";
import { surroundingsHere } from "../surroundings-here.ts";

type Json = { json: boolean };
type One = Json & { id: string };

/** More would hide the sessions that come after. */
const HITS_SHOWN = 5;

export async function list({ json }: Json): Promise<number> {
  const sessions = listSessions(await folderHere());
  if (json) print(JSON.stringify({ sessions }));
  else if (sessions.length === 0) print("No sessions of this project yet. Start one with: roocode");
  else for (const session of sessions) print(summaryLine(session));
  return 0;
}

export async function show({ id, json }: One): Promise<number> {
  const path = await pathOf(id);
  const { loaded } = loadSession(path);
  const { header, name, usage, cost, lastAt, notes, history } = loaded;
  const owner = sessionOwner(path);
  const facts = {
    id: header.id,
    ...(name === undefined ? {} : { name }),
    path,
    model: header.model,
    cwd: header.cwd,
    at: header.at,
    lastAt,
    ...(header.parent === undefined ? {} : { parent: header.parent }),
    usage,
    ...(cost === undefined ? {} : { cost }),
    isRunning: owner !== undefined,
    ...(owner ? { pid: owner.pid } : {}),
    notes,
  };
  if (json) {
    print(JSON.stringify({ ...facts, history }));
    return 0;
  }
  const { toMarkdown } = await import("../../memory/session-export/markdown.ts");
  for (const piece of toMarkdown(name ?? `Session ${header.id}`, header, parts(allEntries(path)))) print(plainText(piece).trimEnd());
  for (const note of notes) print(note);
  if (owner) print(`It is open in another process (pid ${owner.pid}).`);
  return 0;
}

export async function rename({ id, name, json }: One & { name: string }): Promise<number> {
  const path = await pathOf(id);
  const plain = sessionName(name);
  if (plain === undefined) throw new UserError('A name needs a visible character: roocode sessions rename ID "login bug"');
  // Another process that has it open would write the old name again.
  using _lock = lockSession(path);
  const session = new SessionFile(path, requireHeader(path));
  session.write({ type: "name", at: new Date().toISOString(), name: plain });
  const isSaved = session.unsaved === 0;
  session.close();
  if (!isSaved) return 1;
  print(json ? JSON.stringify({ id: session.id, name: plain }) : `${session.id} is called "${plain}" now.`);
  return 0;
}

export async function fork({ id, name, json }: One & { name?: string | undefined }): Promise<number> {
  const path = await pathOf(id);
  const copy = forkSession(path, { cwd: process.cwd(), name: name === undefined ? undefined : sessionName(name) });
  print(json ? JSON.stringify({ id: copy, parent: requireHeader(path).id }) : `${copy} is a copy. Go on with it: roocode --resume ${copy}`);
  return 0;
}

/** For --fork-session: gives the id of the copy. */
export async function forkForTalk(wanted: string, flags: GlobalFlags): Promise<string> {
  const { data, projectRoot, cwd } = await readSurroundings(process.cwd(), process.env, flags);
  const folder = data.sessions(projectRoot);
  const id = wanted === "latest" ? latestSession(folder) : findSession(folder, wanted);
  return forkSession(join(folder, `${id}.jsonl`), { cwd });
}

export async function exportSession({
  id,
  format,
  output,
  json,
}: One & { format: "md" | "html"; output?: string | undefined }): Promise<number> {
  if (json && output === undefined) throw new UserError("--json says where the page was written; give --output FILE with it.");
  const path = await pathOf(id);
  const pieces = await exportPieces(path, format);
  if (output === undefined) {
    outliveOutput();
    for (const piece of pieces) process.stdout.write(process.stdout.isTTY ? plainText(piece) : piece);
    return 0;
  }
  const target = resolve(output);
  writePieces(target, pieces, "--output FILE takes another one");
  print(json ? JSON.stringify({ id: requireHeader(path).id, path: target }) : `Written to ${target}.`);
  return 0;
}

export async function search({ text, json }: Json & { text: string }): Promise<number> {
  if (text.trim() === "") throw new UserError('Say what to look for: roocode sessions search "rate limit"');
  const found: (SearchHit & { id: string })[] = [];
  for (const { id, path, name, firstPrompt } of listSessions(await folderHere())) {
    const hits = [...searchSession(path, text)];
    found.push(...hits.map((hit) => ({ id, ...hit })));
    if (json || hits.length === 0) continue;
    print(`${id}  ${plainText(name ?? firstPrompt.slice(0, 60))}`);
    for (const hit of hits.slice(0, HITS_SHOWN)) print(`  ${hit.at}  ${hit.who}: ${plainText(hit.text)}`);
    if (hits.length > HITS_SHOWN) print(`  … and ${hits.length - HITS_SHOWN} more`);
  }
  if (json) print(JSON.stringify({ hits: found }));
  else if (found.length === 0) print(`"${text}" stands in no session of this project.`);
  return found.length > 0 ? 0 : 1;
}

export async function prune({ olderThan, dryRun, json }: Json & { olderThan: string; dryRun: boolean }): Promise<number> {
  const old = oldSessions(await folderHere(), readAge(olderThan), Date.now());
  const removed = dryRun ? old : old.filter(({ path }) => removeSession(path));
  if (json) print(JSON.stringify({ dryRun, removed: removed.map(({ id, path, lastAt, bytes }) => ({ id, path, lastAt, bytes })) }));
  else {
    for (const session of removed) print(`${dryRun ? "would remove" : "removed"}  ${summaryLine(session)}`);
    if (removed.length === 0) print(`No session is older than ${olderThan}.`);
  }
  return 0;
}

function print(line: string): void {
  outliveOutput();
  process.stdout.write(`${line}\n`);
}

async function folderHere(): Promise<string> {
  const { data, projectRoot } = await surroundingsHere();
  return data.sessions(projectRoot);
}

async function pathOf(wanted: string): Promise<string> {
  const folder = await folderHere();
  return join(folder, `${findSession(folder, wanted)}.jsonl`);
}
