import { UserError } from "../protocol/errors.ts";

/** One line of a list that the person takes one of. */
export type PickItem<Value> = { label: string; note?: string; value: Value };

/** As lines, for a screen of lines. */
export function numbered(items: readonly PickItem<unknown>[]): string {
  const digits = String(items.length).length;
  return items.map(({ label, note }, index) => `${String(index + 1).padStart(digits + 2)}. ${label}${note ? `  ${note}` : ""}`).join("\n");
}

/** By its number in the list, or by words that stand in no other. Throws a UserError for what is none or several. */
export function pickedBy<Value>(wanted: string, items: readonly PickItem<Value>[]): Value {
  const words = wanted.trim().toLowerCase();
  const byNumber = /^\d{1,4}$/.test(words) ? items[Number(words) - 1] : undefined;
  if (byNumber) return byNumber.value;
  const found = items.filter(({ label, note = "" }) => `${label} ${note}`.toLowerCase().includes(words));
  const [only] = found;
  if (only && found.length === 1) return only.value;
  throw new UserError(found.length === 0 ? `"${wanted}" is none of them.` : `"${wanted}" fits ${found.length} of them. Give more of it.`);
}
