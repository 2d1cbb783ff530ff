import { DOUBLE_BYTE, encoderFor } from "./declared-encoding.ts";
import { decodes, type Encoding } from "./encoding.ts";

/**
 * A file as a string in which places are found and spliced without touching anything else: one character a byte, or one a UTF-16
 * unit. `encode` gives text as such units, undefined when the encoding lacks one of its characters.
 */
export type TextForm = {
  name: string;
  units: string;
  encode(text: string): string | undefined;
  decode(units: string): string;
  toBytes(units: string): Buffer;
  /** False where a place lies, or may lie, inside a character. */
  isBoundary(at: number): boolean;
};

/** Undefined for a binary file. */
export function textForm(bytes: Buffer, encoding: Encoding): TextForm | undefined {
  if (encoding === "binary") return undefined;
  if (encoding === "utf-8" || encoding === "utf-8-bom") return utf8Form(bytes);
  if (encoding === "utf-16le" || encoding === "utf-16be") return utf16Form(bytes, encoding);
  return encoding === "8-bit" ? unknownForm(bytes) : declaredForm(bytes, encoding.declared);
}

const always = () => true;

function utf8Form(bytes: Buffer): TextForm {
  return {
    name: "UTF-8",
    units: bytes.toString("latin1"),
    encode: (text) => Buffer.from(text, "utf8").toString("latin1"),
    decode: (units) => Buffer.from(units, "latin1").toString("utf8"),
    toBytes: (units) => Buffer.from(units, "latin1"),
    isBoundary: always,
  };
}

/** The units as they are, lone surrogates too; mark and an odd last byte stay apart. */
function utf16Form(bytes: Buffer, encoding: "utf-16le" | "utf-16be"): TextForm {
  const swapped = (some: Buffer) => (encoding === "utf-16be" ? Buffer.from(some).swap16() : some);
  const end = bytes.length - (bytes.length % 2);
  return {
    name: encoding.toUpperCase(),
    units: swapped(bytes.subarray(2, end)).toString("utf16le"),
    encode: (text) => text,
    decode: (units) => units,
    toBytes: (units) => Buffer.concat([bytes.subarray(0, 2), swapped(Buffer.from(units, "utf16le")), bytes.subarray(end)]),
    isBoundary: always,
  };
}

function declaredForm(bytes: Buffer, label: string): TextForm {
  const decoder = new TextDecoder(label);
  const units = bytes.toString("latin1");
  const encode = encoderFor(label);
  return {
    name: label,
    units,
    encode,
    decode: (some) => decoder.decode(Buffer.from(some, "latin1")),
    toBytes: (some) => Buffer.from(some, "latin1"),
    isBoundary: (at) => lineDecodes(units, at, label),
  };
}

/** An 8-bit encoding that nothing names: ASCII is what all of them share, but for the second halves of double bytes. */
function unknownForm(bytes: Buffer): TextForm {
  const units = bytes.toString("latin1");
  const possible = DOUBLE_BYTE.filter((label) => decodes(bytes, label));
  return {
    name: "an 8-bit encoding that the file does not name",
    units,
    encode: (text) => (/^[\x00-\x7f]*$/.test(text) ? text : undefined),
    decode: (some) => some,
    toBytes: (some) => Buffer.from(some, "latin1"),
    isBoundary: (at) => possible.every((label) => lineDecodes(units, at, label)),
  };
}

/** A line end is no part of any character, so decoding can begin there. */
function lineDecodes(units: string, at: number, label: string): boolean {
  const start = at === 0 ? 0 : units.lastIndexOf("\n", at - 1) + 1;
  return decodes(Buffer.from(units.slice(start, at), "latin1"), label);
}
