// Loaded with import() by those who read settings. A file of ours in between: the bundle gives a CommonJS package
// that is imported lazily no named exports.
export { isNode, isSeq, LineCounter, parseDocument } from "yaml";
