import { findSession } from "../memory/find-session.ts";
import { listSessions, type SessionSummary } from "../memory/session-list.ts";
import { UserError } from "../protocol/errors.ts";
import { plainText } from "../tools/bash/plain-text.ts";
import { type PickItem, pickedBy } from "./pick.ts";

export const CHOOSE_SESSION = "Which conversation shall go on?";
const WORDS = 100;

/** Conversations of a folder as a list to choose from, the one that was used last first; `except` is the one that is open here. */
export function sessionItems(folder: string, except?: string): PickItem<string>[] {
  return listSessions(folder)
    .filter(({ id }) => id !== except)
    .map((session) => ({ label: sessionLabel(session, Date.now()), note: session.id.slice(0, 8), value: session.id }));
}

/** What the person calls it: a number of the list, the beginning of an id, or words that only one has. */
export function sessionNamed(folder: string, wanted: string, except: string): string {
  const items = sessionItems(folder, except);
  if (/^\d{1,3}$/.test(wanted) && items[Number(wanted) - 1]) return pickedBy(wanted, items);
  try {
    return findSession(folder, wanted);
  } catch (error) {
    if (!(error instanceof UserError) || !items.some(({ label }) => label.toLowerCase().includes(wanted.toLowerCase()))) throw error;
    return pickedBy(wanted, items);
  }
}

function sessionLabel({ lastAt, turns, name, firstPrompt, isRunning }: SessionSummary, now: number): string {
  const words = plainText(name === undefined ? firstPrompt : `"${name}" ${firstPrompt}`).slice(0, WORDS);
  const count = turns === undefined ? "" : `${turns} ${turns === 1 ? "turn" : "turns"}`;
  return `${ago(Date.parse(lastAt), now).padEnd(12)}  ${count.padEnd(9)}  ${words}${isRunning ? "  (open elsewhere)" : ""}`;
}

function ago(at: number, now: number): string {
  const minutes = Math.max(0, Math.round((now - at) / 60_000));
  if (minutes < 1) return "just now";
  if (minutes < 120) return `${minutes} min ago`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} hours ago` : `${Math.round(hours / 24)} days ago`;
}
