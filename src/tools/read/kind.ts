export type FileKind = { type: "image"; mediaType: string } | { type: "pdf"; name: "PDF" } | { type: "other"; name: string };

const SIGNATURES: readonly [string, FileKind][] = [
  ["\x89PNG\r\n\x1a\n", { type: "image", mediaType: "image/png" }],
  ["\xff\xd8\xff", { type: "image", mediaType: "image/jpeg" }],
  ["GIF87a", { type: "image", mediaType: "image/gif" }],
  ["GIF89a", { type: "image", mediaType: "image/gif" }],
  ["%PDF-", { type: "pdf", name: "PDF" }],
  ["PK\x03\x04", { type: "other", name: "ZIP" }],
  ["\x1f\x8b", { type: "other", name: "gzip" }],
  ["7z\xbc\xaf\x27\x1c", { type: "other", name: "7z" }],
  ["\xfd7zXZ\0", { type: "other", name: "xz" }],
  ["\x28\xb5\x2f\xfd", { type: "other", name: "zstd" }],
  ["\x7fELF", { type: "other", name: "ELF program" }],
  ["\xcf\xfa\xed\xfe", { type: "other", name: "Mach-O program" }],
  ["\0asm", { type: "other", name: "WebAssembly" }],
  ["SQLite format 3\0", { type: "other", name: "SQLite" }],
  ["II*\0", { type: "other", name: "TIFF image" }],
  ["MM\0*", { type: "other", name: "TIFF image" }],
  ["\0\0\x01\0", { type: "other", name: "icon" }],
];

/** By its first bytes, never by its name; undefined for text and what is not known. */
export function kindOf(head: Buffer): FileKind | undefined {
  const start = head.subarray(0, 32).toString("latin1");
  if (start.startsWith("RIFF") && start.slice(8, 12) === "WEBP") return { type: "image", mediaType: "image/webp" };
  if (start.slice(4, 12) === "ftypheic") return { type: "other", name: "HEIC image" };
  if (start.startsWith("BM") && start.slice(6, 10) === "\0\0\0\0") return { type: "other", name: "BMP image" };
  return SIGNATURES.find(([signature]) => start.startsWith(signature))?.[1];
}
