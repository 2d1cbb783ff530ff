import { findFault, validateHistory } from "../memory/validate.ts";
import type { Message } from "../protocol/message.ts";
import type { Session } from "../protocol/session.ts";

/**
 * The validator as an assertion before each request: what a provider would refuse is our own bug. With `isStrict` (tests) it
 * throws; else the history is mended in place, the session keeps the mended one, and the person reads what was wrong.
 */
export function historyMender(session: Session, isStrict: boolean): (history: Message[]) => Promise<string[]> {
  let checked = 0;
  return async (history) => {
    // A compaction or a step back has made it shorter.
    const fault = findFault(history, checked <= history.length ? checked : 0);
    if (fault === undefined) {
      checked = history.length;
      return [];
    }
    if (isStrict) throw new Error(`The history is not legal: ${fault}`);
    const { history: mended, notes } = validateHistory(history);
    history.splice(0, history.length, ...mended);
    checked = 0;
    await session.append({ type: "rewind", at: new Date().toISOString(), history: [...history] });
    return notes;
  };
}
