import type { Document } from "yaml";

// Loaded with import() by those who read settings. A file of ours in between: the bundle gives a CommonJS package
// that is imported lazily no named exports.
export { isMap, isNode, isScalar, isSeq, LineCounter, parseDocument } from "yaml";
export type { Document };

/** What a document says, or why that can't be told: a few lines of aliases may stand for more than any memory holds. */
export function contentOf(document: Document, maxAliasCount = 50): { value: unknown } | { problem: string } {
  try {
    return { value: document.toJS({ maxAliasCount }) };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { problem: error.message };
  }
}
