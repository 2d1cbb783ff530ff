import type { CommandNode, CompoundList, ParsedScript, Statement, TestExpression, Word as WordSyntax } from "unbash";
import { knownWord, type Part, type Word } from "../command-line.ts";
import { forgetPositions, fork, settle, snapshot } from "../scope.ts";
import { unknownWord } from "../word-pieces.ts";
import { readRedirects, simple } from "./simple.ts";
import type { FunctionBody, Scope, Walk } from "./walk.ts";
import { arithmetic, fields } from "./words.ts";

const LOOP_ITEMS = 50;
/** How many neighbours at each end of a long pipeline a part remembers: all of them would be quadratic. */
const PIPE_MEMORY = 50;

/** Everything of a script that was parsed, into parts. */
export function script(walk: Walk, parsed: ParsedScript, scope: Scope): void {
  if (parsed.errors && parsed.errors.length > 0)
    walk.problems.push(`the command does not parse: ${parsed.errors[0]?.message ?? "unknown error"}`);
  walk.deeper(() => statements(walk, parsed.commands, scope));
}

function statements(walk: Walk, list: readonly Statement[], scope: Scope): void {
  for (const each of list) statement(walk, each, scope);
}

function statement(walk: Walk, node: Statement, scope: Scope): void {
  const here = node.background ? { ...fork(scope), isBackground: true } : scope;
  if (node.command.type === "AndOr") {
    const [first, ...rest] = node.command.commands;
    if (first) pipeline(walk, first, here);
    const start = snapshot(here);
    for (const item of rest) pipeline(walk, item, here);
    // From the second on it may not have run.
    settle(here, start);
  } else pipeline(walk, node.command, here);
}

function pipeline(walk: Walk, node: Statement["command"], scope: Scope): void {
  if (node.type === "AndOr") {
    statement(walk, { type: "Statement", pos: 0, end: 0, command: node, background: undefined }, scope);
    return;
  }
  if (node.type !== "Pipeline") {
    command(walk, node, scope);
    return;
  }
  if (node.commands.length === 1) {
    for (const only of node.commands) command(walk, only, scope);
    return;
  }
  const elements: Part[][] = [];
  const soFar: Part[] = [];
  for (const element of node.commands) {
    const start = walk.parts.length;
    const fed = ends([...ends(soFar), ...scope.before]);
    command(walk, element, { ...fork(scope), before: fed, stdin: elements.length === 0 ? scope.stdin : undefined });
    const own = walk.parts.slice(start);
    elements.push(own);
    for (const part of own) soFar.push(part);
  }
  for (const [index, parts] of elements.entries()) {
    const after = ends(elements.slice(index + 1, index + 1 + PIPE_MEMORY).flat());
    for (const part of parts) part.after = [...part.after, ...after];
  }
}

function command(walk: Walk, node: CommandNode, scope: Scope): void {
  walk.deeper(() => anyCommand(walk, node, scope));
}

export function anyCommand(walk: Walk, node: CommandNode | CompoundList, scope: Scope): void {
  switch (node.type) {
    case "Command":
      simple(walk, node, scope);
      return;
    case "CompoundList":
      statements(walk, node.commands, scope);
      return;
    case "BraceGroup":
      statements(walk, node.body.commands, scope);
      return;
    case "Subshell":
      statements(walk, node.body.commands, fork(scope));
      return;
    case "Redirected": {
      const redirects = readRedirects(walk, node.redirects, scope);
      walk.add({ redirects: redirects.list }, scope);
      anyCommand(walk, node.command, { ...scope, stdin: redirects.stdin ?? scope.stdin });
      return;
    }
    case "If": {
      statements(walk, node.clause.commands, scope);
      for (const branch of [node.then, ...node.elif.flatMap((each) => [each.clause, each.then]), ...(node.else ? [node.else] : [])])
        maybe(walk, branch, scope);
      return;
    }
    case "While":
      statements(walk, node.clause.commands, scope);
      maybe(walk, node.body, scope);
      return;
    case "For":
    case "Select":
      loop(walk, node.name.value, node.wordlist, node.body, scope);
      return;
    case "ArithmeticFor":
      for (const expression of [node.initialize, node.test, node.update]) if (expression) arithmetic(walk, expression, scope, []);
      walk.add({}, scope, "an arithmetic loop");
      maybe(walk, node.body, scope);
      return;
    case "Case":
      fields(walk, node.word, scope);
      for (const item of node.items) {
        for (const pattern of item.pattern) fields(walk, pattern, scope);
        maybe(walk, item.body, scope);
      }
      return;
    case "TestCommand":
      test(walk, node.expression, scope);
      return;
    case "ArithmeticCommand":
      if (node.expression) arithmetic(walk, node.expression, scope, []);
      walk.add({ words: [knownWord("((")] }, scope);
      return;
    case "Function":
      define(walk, node.name.value, node.body, scope);
      return;
    case "Coproc":
      anyCommand(walk, node.body, { ...fork(scope), isBackground: true });
      return;
  }
}

function maybe(walk: Walk, list: CompoundList, scope: Scope): void {
  const start = snapshot(scope);
  statements(walk, list.commands, scope);
  settle(scope, start);
}

function loop(walk: Walk, name: string, list: readonly WordSyntax[] | undefined, body: CompoundList, scope: Scope): void {
  const items = list?.flatMap((word) => fields(walk, word, scope)) ?? [unknownWord(`$${name}`)];
  const start = snapshot(scope);
  for (const item of items.slice(0, LOOP_ITEMS)) {
    scope.variables.set(name, item);
    statements(walk, body.commands, scope);
  }
  if (items.length > LOOP_ITEMS) {
    scope.variables.set(name, unknownWord(`$${name}`));
    statements(walk, body.commands, scope);
  }
  settle(scope, start);
}

function define(walk: Walk, name: string, body: FunctionBody, scope: Scope): void {
  scope.functions.set(name, body);
  const start = walk.parts.length;
  const inside = fork(scope);
  forgetPositions(inside.variables);
  walk.calling.add(name);
  anyCommand(walk, body, { ...inside, outer: scope.outer });
  walk.calling.delete(name);
  const again = walk.parts.slice(start).filter((part) => part.words[0]?.text === name);
  const own = (part: Part) => part.words[0]?.text === name;
  if (again.some((part) => part.isBackground || part.before.some(own) || part.after.some(own))) walk.bombs.push(name);
}

function test(walk: Walk, expression: TestExpression, scope: Scope): void {
  const words: Word[] = [];
  const visit = (node: TestExpression): void => {
    switch (node.type) {
      case "TestUnary":
        words.push(knownWord(node.operator), ...fields(walk, node.operand, scope));
        return;
      case "TestBinary":
        words.push(...fields(walk, node.left, scope), knownWord(node.operator), ...fields(walk, node.right, scope));
        return;
      case "TestLogical":
        for (const operand of node.operands) visit(operand);
        return;
      case "TestNot":
        visit(node.operand);
        return;
      case "TestGroup":
        visit(node.expression);
        return;
    }
  };
  visit(expression);
  walk.add({ words: [knownWord("[["), ...words] }, scope);
}

function ends(parts: readonly Part[]): readonly Part[] {
  return parts.length <= 2 * PIPE_MEMORY ? parts : [...parts.slice(0, PIPE_MEMORY), ...parts.slice(-PIPE_MEMORY)];
}
