import { type ArithmeticExpression, type ParameterExpansionPart, parse, type WordPart, type Word as WordSyntax } from "unbash";
import { expandBraces } from "../braces.ts";
import type { Part, Word } from "../command-line.ts";
import { fork } from "../scope.ts";
import { bare, join, type Piece, prefixLength, quoted, split, unknownWord } from "../word-pieces.ts";
import { literalOutput } from "../wrappers.ts";
import type { Scope, Walk } from "./walk.ts";

/** Brace expansion is textual and comes first; each result is then a word of its own. */
export function fields(walk: Walk, word: WordSyntax, scope: Scope): Word[] {
  if (!word.parts?.some((part) => part.type === "BraceExpansion")) return split(pieces(walk, word, scope), word.text);
  return expandBraces(word.text).flatMap((text) => {
    const statement = parse(`: ${text}`).commands[0]?.command;
    const only = statement?.type === "Command" ? statement.args : [];
    const [single] = only;
    if (only.length !== 1 || single?.type !== "Word") return [{ ...unknownWord(text), isUnsafe: true }];
    return split(pieces(walk, single, scope), text);
  });
}

export function pieces(walk: Walk, word: WordSyntax, scope: Scope): Piece[] {
  const tilde = homeOf(walk, word.text, scope);
  if (!word.parts) return tilde ? [tilde, quoted(word.value.slice(prefixLength(word.text)))] : [bare(word.value, word.text)];
  const found = partPieces(walk, word.parts, scope, false);
  const [first, ...rest] = found;
  if (!tilde || !first) return found;
  return [tilde, { ...first, text: first.text.slice(prefixLength(word.text)) }, ...rest];
}

function homeOf(walk: Walk, source: string, scope: Scope): Piece | undefined {
  const match = /^~([\w.+-]*)(?=\/|$)/.exec(source);
  if (!match) return undefined;
  const name = match[1] ?? "";
  if (name === "") return quoted(scope.variables.get("HOME")?.text ?? walk.home);
  if (name === "+") return quoted(scope.cwds[0] ?? "");
  if (name === "-") return { ...quoted("~-"), isKnown: false };
  return quoted(name === "root" ? "/root" : `/home/${name}`);
}

export function partPieces(walk: Walk, parts: readonly WordPart[], scope: Scope, isQuoted: boolean): Piece[] {
  return parts.flatMap((part) => partPiece(walk, part, scope, isQuoted));
}

function partPiece(walk: Walk, part: WordPart, scope: Scope, isQuoted: boolean): Piece[] {
  switch (part.type) {
    case "Literal":
      return [isQuoted ? quoted(part.value) : bare(part.value, part.text)];
    case "SingleQuoted":
    case "AnsiCQuoted":
      return [quoted(part.value)];
    case "DoubleQuoted":
    case "LocaleString":
      return [quoted(""), ...partPieces(walk, part.parts, scope, true)];
    case "Glob":
      return [{ ...bare(part.value, part.text), hasGlob: true }];
    case "ExtendedGlob":
      if (part.parts) partPieces(walk, part.parts, scope, false);
      return [{ ...bare(part.text, part.text), hasGlob: true, isKnown: false }];
    case "BraceExpansion":
      return [bare(part.text, part.text)];
    case "SimpleExpansion":
      return [variable(part.text.slice(1), part.text, scope, isQuoted)];
    case "ParameterExpansion":
      return parameter(walk, part, scope, isQuoted);
    case "CommandExpansion":
    case "ProcessSubstitution": {
      const start = walk.parts.length;
      if (part.script) walk.door.script(walk, part.script, { ...fork(scope), before: [], stdin: undefined });
      const runs = walk.parts.slice(start);
      const only = runs[0];
      const output = part.type === "CommandExpansion" && runs.length === 1 && only ? literalOutput(only) : undefined;
      if (output !== undefined) return [{ ...quoted(output.replace(/\n+$/, "")), isSplit: !isQuoted, isQuoted, runs }];
      if (
        part.type === "CommandExpansion" &&
        runs.length === 1 &&
        only?.words.length === 1 &&
        only.words[0]?.text === "pwd" &&
        scope.cwds.length === 1
      )
        return [{ ...quoted(scope.cwds[0] ?? ""), isQuoted, runs }];
      return [{ ...quoted(part.text), isKnown: false, isQuoted, runs, isUnsafe: part.script === undefined }];
    }
    case "ArithmeticExpansion": {
      const runs: Part[] = [];
      const isPlain = part.expression ? arithmetic(walk, part.expression, scope, runs) : false;
      return [{ ...quoted(part.text), isKnown: false, isQuoted, isUnsafe: !isPlain, runs }];
    }
  }
}

function variable(name: string, source: string, scope: Scope, isQuoted: boolean): Piece {
  const value = scope.variables.get(name);
  if (!value) return { ...quoted(source), isKnown: false, isQuoted };
  if (!value.isKnown) return { ...quoted(source), isKnown: false, isQuoted, runs: value.runs, isUnsafe: false };
  return { ...quoted(value.text), isQuoted, isSplit: !isQuoted, hasGlob: !isQuoted && /[*?[]/.test(value.text), runs: value.runs };
}

function parameter(walk: Walk, part: ParameterExpansionPart, scope: Scope, isQuoted: boolean): Piece[] {
  const unknown: Piece = { ...quoted(part.text), isKnown: false, isQuoted };
  const { operation } = part;
  if (part.index) fields(walk, part.index, scope);
  if (part.prefix === "#") return [unknown];
  if (part.prefix === "!" || part.index)
    return [{ ...unknown, isUnsafe: part.prefix === "!" || !/^[\d@*]+$/.test(part.index?.text ?? "") }];
  if (!operation) return [variable(part.parameter, part.text, scope, isQuoted)];
  const value = scope.variables.get(part.parameter);
  switch (operation.type) {
    case "Default": {
      const operand = join(pieces(walk, operation.operand, scope), operation.operand.text);
      if (operation.operator.endsWith("+") || operation.operator.endsWith("?")) return [{ ...unknown, runs: operand.runs }];
      if (value?.isKnown && value.text !== "") return [variable(part.parameter, part.text, scope, isQuoted)];
      if (value?.isKnown && operand.isKnown) return [{ ...quoted(operand.text), isQuoted, isSplit: !isQuoted }];
      return [{ ...unknown, runs: [...operand.runs, ...(value?.runs ?? [])] }];
    }
    case "Remove":
    case "CaseModification":
    case "Transform":
      if (operation.operand) fields(walk, operation.operand, scope);
      return [{ ...unknown, runs: value?.runs ?? [], isUnsafe: operation.type === "Transform" && /[PE]/.test(operation.operand.text) }];
    case "Replace":
      fields(walk, operation.pattern, scope);
      fields(walk, operation.replacement, scope);
      return [{ ...unknown, runs: value?.runs ?? [] }];
    case "Slice": {
      const plain = [operation.offset, operation.length].every((word) => {
        if (!word) return true;
        fields(walk, word, scope);
        return /^\s*-?\d*\s*$/.test(word.text);
      });
      return [{ ...unknown, runs: value?.runs ?? [], isUnsafe: !plain }];
    }
    case "Names":
    case "Unknown":
      return [{ ...unknown, isUnsafe: operation.type === "Unknown" }];
  }
}

/** True when only numbers are in it: arithmetic on anything else may run a subscript. */
export function arithmetic(walk: Walk, node: ArithmeticExpression, scope: Scope, runs: Part[]): boolean {
  switch (node.type) {
    case "ArithmeticBinary": {
      const left = arithmetic(walk, node.left, scope, runs);
      return arithmetic(walk, node.right, scope, runs) && left;
    }
    case "ArithmeticUnary":
      return arithmetic(walk, node.operand, scope, runs);
    case "ArithmeticTernary":
      return [node.test, node.consequent, node.alternate].map((each) => arithmetic(walk, each, scope, runs)).every(Boolean);
    case "ArithmeticGroup":
      return arithmetic(walk, node.expression, scope, runs);
    case "ArithmeticWord": {
      const start = walk.parts.length;
      const pieces = node.parts ? partPieces(walk, node.parts, scope, true) : [];
      runs.push(...walk.parts.slice(start));
      const value = node.parts ? pieces.map((piece) => piece.text).join("") : (scope.variables.get(node.value)?.text ?? node.value);
      return /^[\s\d]*$/.test(value) && pieces.every((piece) => piece.isKnown);
    }
    case "ArithmeticCommandExpansion": {
      const start = walk.parts.length;
      if (node.script) walk.door.script(walk, node.script, fork(scope));
      runs.push(...walk.parts.slice(start));
      return false;
    }
  }
}
