import { type Assignment as AssignmentNode, type Command, parse, type Redirection } from "unbash";
import { type Assignment, knownWord, NOTHING, type Part, type Redirect } from "../command-line.ts";
import { fork, inner, resolveFolders, setPositions } from "../scope.ts";
import { applyBuiltin } from "../shell-builtins.ts";
import { join, unknownWord } from "../word-pieces.ts";
import { literalOutput, openWrapper } from "../wrappers.ts";
import type { Found, Scope, Walk } from "./walk.ts";
import { fields, partPieces, pieces } from "./words.ts";

export function simple(walk: Walk, node: Command, scope: Scope): void {
  const assignments = node.prefix.flatMap((item) => (item.type === "Assignment" ? [assignment(walk, item, scope)] : []));
  const words = [
    ...(node.name ? fields(walk, node.name, scope) : []),
    ...node.args.flatMap((argument) => {
      if (argument.type === "Word") return fields(walk, argument, scope);
      const { name, value } = assignment(walk, argument, scope);
      return [{ ...value, text: `${name}=${value.text}`, isQuoted: true, hasGlob: false }];
    }),
  ];
  const redirects = readRedirects(walk, node.redirects, scope);
  const stdin = redirects.stdin ?? scope.stdin;
  run(walk, { words, assignments, redirects: redirects.list, stdin }, scope);
}

/** Adds the part, lets it change the scope, and walks what it opens. */
function run(walk: Walk, found: Found, scope: Scope): void {
  const part = walk.add(found, scope);
  const name = part.words[0];
  if (!name) {
    for (const { name: variable, value } of part.assignments) scope.variables.set(variable, value);
    return;
  }
  noteWritten(walk, part);
  if (!name.isKnown) {
    walk.problems.push(`the command name "${name.text}" is only known when it runs`);
    part.runsUnknown = true;
    // An empty value makes the next word the command.
    if (!name.isQuoted && part.words.length > 1)
      walk.open(part, "opaque", () => run(walk, { words: part.words.slice(1), assignments: [] }, inner(scope, part)));
    return;
  }
  applyBuiltin(part, scope, walk.home);
  const body = scope.functions.get(name.text);
  if (body && !walk.calling.has(name.text)) {
    part.isCall = true;
    walk.calling.add(name.text);
    const inside = { ...scope, variables: new Map(scope.variables), outer: part };
    setPositions(inside.variables, part.words.slice(1));
    walk.open(part, "script", () => walk.door.command(walk, body, inside));
    walk.calling.delete(name.text);
    return;
  }
  if (body) part.isCall = true;
  unwrap(walk, part, scope);
}

function unwrap(walk: Walk, part: Part, scope: Scope): void {
  const opened = openWrapper(part, (path) => walk.writtenTexts.get(path));
  if (!opened) return;
  walk.deeper(() =>
    walk.open(part, opened.how, () => {
      for (const target of opened.targets) {
        const inside = inner(opened.isSameShell ? scope : fork(scope), part);
        if (target.cwd) inside.cwds = resolveFolders(target.cwd, inside.cwds);
        if (target.type === "words") {
          run(walk, { words: target.words, assignments: target.assignments ?? [], stdin: part.stdin }, inside);
          continue;
        }
        if (!target.script.isKnown) {
          part.runsUnknown = true;
          continue;
        }
        for (const { name, value } of part.assignments) inside.variables.set(name, value);
        if (target.positions) setPositions(inside.variables, target.positions);
        walk.door.script(walk, parse(target.script.text), inside);
        if (opened.isSameShell) Object.assign(scope, { cwds: inside.cwds });
      }
    }),
  );
}

function noteWritten(walk: Walk, part: Part): void {
  const target = part.redirects.find((redirect) => redirect.use === "write" && !redirect.isCopy)?.target;
  const text = target?.isKnown ? literalOutput(part) : undefined;
  if (target && text !== undefined) for (const path of resolveFolders(target, part.cwds)) walk.writtenTexts.set(path, text);
}

function assignment(walk: Walk, node: AssignmentNode, scope: Scope): Assignment {
  if (node.index) fields(walk, node.index, scope);
  if (!node.value) return { name: node.name, value: NOTHING };
  if (node.value.type === "ArrayValue") {
    const elements = node.value.elements.flatMap((element) => fields(walk, element, scope));
    return { name: node.name, value: { ...unknownWord(`$${node.name}`), runs: elements.flatMap((element) => element.runs) } };
  }
  const value = join(pieces(walk, node.value, scope), node.value.text);
  if (node.index || node.append) {
    const old = node.append ? scope.variables.get(node.name) : undefined;
    if (old?.isKnown && value.isKnown && !node.index) return { name: node.name, value: { ...value, text: old.text + value.text } };
    return { name: node.name, value: { ...value, isKnown: false, isUnsafe: node.index !== undefined } };
  }
  return { name: node.name, value };
}

export function readRedirects(walk: Walk, nodes: readonly Redirection[], scope: Scope): { list: Redirect[]; stdin: string | undefined } {
  const list: Redirect[] = [];
  let stdin: string | undefined;
  for (const node of nodes) {
    const descriptor = node.descriptor?.type === "FileDescriptor" ? node.descriptor.value : undefined;
    if (node.type === "HereDoc") {
      const body =
        node.delimiter?.quoted || !node.body.parts
          ? knownWord(node.body.text)
          : join(partPieces(walk, node.body.parts, scope, true), node.body.text);
      stdin = body.isKnown ? body.text : undefined;
      continue;
    }
    const word = node.target ? join(pieces(walk, node.target, scope), node.target.text) : NOTHING;
    if (node.type === "HereString") {
      stdin = word.isKnown ? `${word.text}\n` : undefined;
      if (!word.isKnown) list.push({ use: "read", target: { ...word, text: "" }, isCopy: true, descriptor });
      continue;
    }
    const isCopy = (node.operator === "<&" || node.operator === ">&") && /^(\d+-?|-)$/.test(word.text);
    if (node.operator === "<>") list.push({ use: "read", target: word, isCopy, descriptor });
    list.push({ use: node.operator === "<" || node.operator === "<&" ? "read" : "write", target: word, isCopy, descriptor });
  }
  return { list, stdin };
}
