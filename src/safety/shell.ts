import {
  type ArithmeticExpression,
  type Assignment as AssignmentNode,
  type CommandNode,
  type Command as CommandSyntax,
  type CompoundList,
  type ParameterExpansionPart,
  type ParsedScript,
  parse,
  type Redirection,
  type Statement,
  type TestExpression,
  type WordPart,
  type Word as WordSyntax,
} from "unbash";
import { expandBraces } from "./braces.ts";
import { type Assignment, knownWord, type Line, NOTHING, type Part, type Redirect, type Word } from "./command-line.ts";
import { forgetPositions, fork, inner, POSITIONS, resolveFolders, type Scope as ScopeOf, setPositions, settle, snapshot } from "./scope.ts";
import { applyBuiltin } from "./shell-builtins.ts";
import { suspiciousText } from "./suspicious-text.ts";
import { bare, join, type Piece, prefixLength, quoted, split, unknownWord } from "./word-pieces.ts";
import { literalOutput, openWrapper } from "./wrappers.ts";

/** Over these the answer is a sticky ask; the analysis itself goes on until the hard ones. */
const LIMITS = { text: 64 * 1024, parts: 1_000, depth: 100 };
const HARD_LIMITS = { text: 1024 * 1024, parts: 20_000 };
const LOOP_ITEMS = 50;
/** How many neighbours at each end of a long pipeline a part remembers: all of them would be quadratic. */
const PIPE_MEMORY = 50;

class LimitReached extends Error {}

type FunctionBody = CommandNode | CompoundList;
type Scope = ScopeOf<FunctionBody>;

/** The only door to the parser: a command line into its simple commands, with everything that they open. Never throws. */
export function analyze(text: string, place: { cwd: string; home: string }): Line {
  const walk = new Walk(place.home);
  const variables = new Map<string, Word>([
    ["HOME", knownWord(place.home)],
    ["PWD", knownWord(place.cwd)],
    ["IFS", knownWord(" \t\n")],
    ...POSITIONS.map((name): [string, Word] => [name, knownWord("")]),
  ]);
  const scope: Scope = {
    variables,
    functions: new Map(),
    cwds: [place.cwd],
    before: [],
    outer: undefined,
    stdin: undefined,
    isBackground: false,
  };
  let isOverLimit = text.length > LIMITS.text;
  try {
    if (text.length > HARD_LIMITS.text) throw new LimitReached();
    walk.script(parse(text), scope);
  } catch (error) {
    isOverLimit = true;
    if (!(error instanceof LimitReached)) walk.problems.push("the command could not be analysed");
  }
  isOverLimit ||= walk.parts.length > LIMITS.parts || walk.deepest > LIMITS.depth;
  return { text, parts: walk.parts, problems: [...suspiciousText(text, walk.parts), ...walk.problems], isOverLimit, bombs: walk.bombs };
}

/** What one line is made of, while it is being read. */
class Walk {
  readonly parts: Part[] = [];
  readonly problems: string[] = [];
  readonly bombs: string[] = [];
  deepest = 0;
  private depth = 0;
  private readonly calling = new Set<string>();
  private readonly writtenTexts = new Map<string, string>();
  private readonly home: string;

  constructor(home: string) {
    this.home = home;
  }

  script(script: ParsedScript, scope: Scope): void {
    if (script.errors && script.errors.length > 0)
      this.problems.push(`the command does not parse: ${script.errors[0]?.message ?? "unknown error"}`);
    this.deeper(() => this.statements(script.commands, scope));
  }

  private deeper<Result>(step: () => Result): Result {
    this.depth++;
    this.deepest = Math.max(this.deepest, this.depth);
    if (this.depth > LIMITS.depth * 4) throw new LimitReached();
    try {
      return step();
    } finally {
      this.depth--;
    }
  }

  private text(text: string, scope: Scope): void {
    this.script(parse(text), scope);
  }

  private statements(list: readonly Statement[], scope: Scope): void {
    for (const statement of list) this.statement(statement, scope);
  }

  private statement(statement: Statement, scope: Scope): void {
    const { command } = statement;
    const here = statement.background ? { ...fork(scope), isBackground: true } : scope;
    if (command.type === "AndOr") {
      const [first, ...rest] = command.commands;
      if (first) this.pipeline(first, here);
      const start = snapshot(here);
      for (const item of rest) this.pipeline(item, here);
      // From the second on it may not have run.
      settle(here, start);
    } else this.pipeline(command, here);
  }

  private pipeline(node: Statement["command"], scope: Scope): void {
    if (node.type === "AndOr") {
      this.statement({ type: "Statement", pos: 0, end: 0, command: node, background: undefined }, scope);
      return;
    }
    if (node.type !== "Pipeline") {
      this.command(node, scope);
      return;
    }
    if (node.commands.length === 1) {
      for (const only of node.commands) this.command(only, scope);
      return;
    }
    const elements: Part[][] = [];
    const soFar: Part[] = [];
    for (const element of node.commands) {
      const start = this.parts.length;
      const fed = ends([...ends(soFar), ...scope.before]);
      this.command(element, { ...fork(scope), before: fed, stdin: elements.length === 0 ? scope.stdin : undefined });
      const own = this.parts.slice(start);
      elements.push(own);
      for (const part of own) soFar.push(part);
    }
    for (const [index, parts] of elements.entries()) {
      const after = ends(elements.slice(index + 1, index + 1 + PIPE_MEMORY).flat());
      for (const part of parts) part.after = [...part.after, ...after];
    }
  }

  private command(node: CommandNode, scope: Scope): void {
    this.deeper(() => this.anyCommand(node, scope));
  }

  private anyCommand(node: CommandNode | CompoundList, scope: Scope): void {
    switch (node.type) {
      case "Command":
        this.simple(node, scope);
        return;
      case "CompoundList":
        this.statements(node.commands, scope);
        return;
      case "BraceGroup":
        this.statements(node.body.commands, scope);
        return;
      case "Subshell":
        this.statements(node.body.commands, fork(scope));
        return;
      case "Redirected": {
        const redirects = this.redirects(node.redirects, scope);
        this.add({ redirects: redirects.list }, scope);
        this.anyCommand(node.command, { ...scope, stdin: redirects.stdin ?? scope.stdin });
        return;
      }
      case "If": {
        this.statements(node.clause.commands, scope);
        for (const branch of [node.then, ...node.elif.flatMap((each) => [each.clause, each.then]), ...(node.else ? [node.else] : [])])
          this.maybe(branch, scope);
        return;
      }
      case "While":
        this.statements(node.clause.commands, scope);
        this.maybe(node.body, scope);
        return;
      case "For":
      case "Select":
        this.loop(node.name.value, node.wordlist, node.body, scope);
        return;
      case "ArithmeticFor":
        for (const expression of [node.initialize, node.test, node.update]) if (expression) this.arithmetic(expression, scope, []);
        this.add({}, scope, "an arithmetic loop");
        this.maybe(node.body, scope);
        return;
      case "Case":
        this.fields(node.word, scope);
        for (const item of node.items) {
          for (const pattern of item.pattern) this.fields(pattern, scope);
          this.maybe(item.body, scope);
        }
        return;
      case "TestCommand":
        this.test(node.expression, scope);
        return;
      case "ArithmeticCommand":
        if (node.expression) this.arithmetic(node.expression, scope, []);
        this.add({ words: [knownWord("((")] }, scope);
        return;
      case "Function":
        this.define(node.name.value, node.body, scope);
        return;
      case "Coproc":
        this.anyCommand(node.body, { ...fork(scope), isBackground: true });
        return;
    }
  }

  private maybe(list: CompoundList, scope: Scope): void {
    const start = snapshot(scope);
    this.statements(list.commands, scope);
    settle(scope, start);
  }

  private loop(name: string, list: readonly WordSyntax[] | undefined, body: CompoundList, scope: Scope): void {
    const items = list?.flatMap((word) => this.fields(word, scope)) ?? [unknownWord(`$${name}`)];
    const start = snapshot(scope);
    for (const item of items.slice(0, LOOP_ITEMS)) {
      scope.variables.set(name, item);
      this.statements(body.commands, scope);
    }
    if (items.length > LOOP_ITEMS) {
      scope.variables.set(name, unknownWord(`$${name}`));
      this.statements(body.commands, scope);
    }
    settle(scope, start);
  }

  private define(name: string, body: FunctionBody, scope: Scope): void {
    scope.functions.set(name, body);
    const start = this.parts.length;
    const inside = fork(scope);
    forgetPositions(inside.variables);
    this.calling.add(name);
    this.anyCommand(body, { ...inside, outer: scope.outer });
    this.calling.delete(name);
    const again = this.parts.slice(start).filter((part) => part.words[0]?.text === name);
    const own = (part: Part) => part.words[0]?.text === name;
    if (again.some((part) => part.isBackground || part.before.some(own) || part.after.some(own))) this.bombs.push(name);
  }

  private test(expression: TestExpression, scope: Scope): void {
    const words: Word[] = [];
    const visit = (node: TestExpression): void => {
      switch (node.type) {
        case "TestUnary":
          words.push(knownWord(node.operator), ...this.fields(node.operand, scope));
          return;
        case "TestBinary":
          words.push(...this.fields(node.left, scope), knownWord(node.operator), ...this.fields(node.right, scope));
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
    this.add({ words: [knownWord("[["), ...words] }, scope);
  }

  private simple(node: CommandSyntax, scope: Scope): void {
    const assignments = node.prefix.flatMap((item) => (item.type === "Assignment" ? [this.assignment(item, scope)] : []));
    const words = [
      ...(node.name ? this.fields(node.name, scope) : []),
      ...node.args.flatMap((argument) => {
        if (argument.type === "Word") return this.fields(argument, scope);
        const { name, value } = this.assignment(argument, scope);
        return [{ ...value, text: `${name}=${value.text}`, isQuoted: true, hasGlob: false }];
      }),
    ];
    const redirects = this.redirects(node.redirects, scope);
    const stdin = redirects.stdin ?? scope.stdin;
    this.run({ words, assignments, redirects: redirects.list, stdin }, scope);
  }

  /** Adds the part, lets it change the scope, and walks what it opens. */
  private run(found: Found, scope: Scope): void {
    const part = this.add(found, scope);
    const name = part.words[0];
    if (!name) {
      for (const { name: variable, value } of part.assignments) scope.variables.set(variable, value);
      return;
    }
    this.noteWritten(part);
    if (!name.isKnown) {
      this.problems.push(`the command name "${name.text}" is only known when it runs`);
      part.runsUnknown = true;
      // An empty value makes the next word the command.
      if (!name.isQuoted && part.words.length > 1)
        this.open(part, "opaque", () => this.run({ words: part.words.slice(1), assignments: [] }, inner(scope, part)));
      return;
    }
    applyBuiltin(part, scope, this.home);
    const body = scope.functions.get(name.text);
    if (body && !this.calling.has(name.text)) {
      part.isCall = true;
      this.calling.add(name.text);
      const inside = { ...scope, variables: new Map(scope.variables), outer: part };
      setPositions(inside.variables, part.words.slice(1));
      this.open(part, "script", () => this.anyCommand(body, inside));
      this.calling.delete(name.text);
      return;
    }
    if (body) part.isCall = true;
    this.unwrap(part, scope);
  }

  private unwrap(part: Part, scope: Scope): void {
    const opened = openWrapper(part, (path) => this.writtenTexts.get(path));
    if (!opened) return;
    this.deeper(() =>
      this.open(part, opened.how, () => {
        for (const target of opened.targets) {
          const inside = inner(opened.isSameShell ? scope : fork(scope), part);
          if (target.cwd) inside.cwds = resolveFolders(target.cwd, inside.cwds);
          if (target.type === "words") {
            this.run({ words: target.words, assignments: target.assignments ?? [], stdin: part.stdin }, inside);
            continue;
          }
          if (!target.script.isKnown) {
            part.runsUnknown = true;
            continue;
          }
          for (const { name, value } of part.assignments) inside.variables.set(name, value);
          if (target.positions) setPositions(inside.variables, target.positions);
          this.text(target.script.text, inside);
          if (opened.isSameShell) Object.assign(scope, { cwds: inside.cwds });
        }
      }),
    );
  }

  private open(part: Part, how: "transparent" | "opaque" | "script", walk: () => void): void {
    const start = this.parts.length;
    walk();
    part.opened = { how, parts: this.parts.slice(start).filter((each) => each.outer === part) };
  }

  private add(found: Partial<Found>, scope: Scope, unsafe?: string): Part {
    if (this.parts.length >= HARD_LIMITS.parts) throw new LimitReached();
    const part: Part = {
      words: unsafe ? [{ ...unknownWord(unsafe), isUnsafe: true }] : (found.words ?? []),
      assignments: found.assignments ?? [],
      redirects: found.redirects ?? [],
      cwds: scope.cwds,
      before: scope.before,
      after: [],
      stdin: found.stdin,
      opened: undefined,
      outer: scope.outer,
      isCall: unsafe !== undefined,
      runsUnknown: false,
      isBackground: scope.isBackground,
    };
    this.parts.push(part);
    return part;
  }

  private noteWritten(part: Part): void {
    const target = part.redirects.find((redirect) => redirect.use === "write" && !redirect.isCopy)?.target;
    const text = target?.isKnown ? literalOutput(part) : undefined;
    if (target && text !== undefined) for (const path of resolveFolders(target, part.cwds)) this.writtenTexts.set(path, text);
  }

  private assignment(node: AssignmentNode, scope: Scope): Assignment {
    if (node.index) this.fields(node.index, scope);
    if (!node.value) return { name: node.name, value: NOTHING };
    if (node.value.type === "ArrayValue") {
      const elements = node.value.elements.flatMap((element) => this.fields(element, scope));
      return { name: node.name, value: { ...unknownWord(`$${node.name}`), runs: elements.flatMap((element) => element.runs) } };
    }
    const value = join(this.pieces(node.value, scope), node.value.text);
    if (node.index || node.append) {
      const old = node.append ? scope.variables.get(node.name) : undefined;
      if (old?.isKnown && value.isKnown && !node.index) return { name: node.name, value: { ...value, text: old.text + value.text } };
      return { name: node.name, value: { ...value, isKnown: false, isUnsafe: node.index !== undefined } };
    }
    return { name: node.name, value };
  }

  private redirects(nodes: readonly Redirection[], scope: Scope): { list: Redirect[]; stdin: string | undefined } {
    const list: Redirect[] = [];
    let stdin: string | undefined;
    for (const node of nodes) {
      const descriptor = node.descriptor?.type === "FileDescriptor" ? node.descriptor.value : undefined;
      if (node.type === "HereDoc") {
        const body =
          node.delimiter?.quoted || !node.body.parts
            ? knownWord(node.body.text)
            : join(this.partPieces(node.body.parts, scope, true), node.body.text);
        stdin = body.isKnown ? body.text : undefined;
        continue;
      }
      const word = node.target ? join(this.pieces(node.target, scope), node.target.text) : NOTHING;
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

  /** Brace expansion is textual and comes first; each result is then a word of its own. */
  private fields(word: WordSyntax, scope: Scope): Word[] {
    if (!word.parts?.some((part) => part.type === "BraceExpansion")) return split(this.pieces(word, scope), word.text);
    return expandBraces(word.text).flatMap((text) => {
      const statement = parse(`: ${text}`).commands[0]?.command;
      const only = statement?.type === "Command" ? statement.args : [];
      const [single] = only;
      if (only.length !== 1 || single?.type !== "Word") return [{ ...unknownWord(text), isUnsafe: true }];
      return split(this.pieces(single, scope), text);
    });
  }

  private pieces(word: WordSyntax, scope: Scope): Piece[] {
    const tilde = this.tilde(word.text, scope);
    if (!word.parts) return tilde ? [tilde, quoted(word.value.slice(prefixLength(word.text)))] : [bare(word.value, word.text)];
    const pieces = this.partPieces(word.parts, scope, false);
    const [first, ...rest] = pieces;
    if (!tilde || !first) return pieces;
    return [tilde, { ...first, text: first.text.slice(prefixLength(word.text)) }, ...rest];
  }

  private tilde(source: string, scope: Scope): Piece | undefined {
    const match = /^~([\w.+-]*)(?=\/|$)/.exec(source);
    if (!match) return undefined;
    const name = match[1] ?? "";
    if (name === "") return quoted(scope.variables.get("HOME")?.text ?? this.home);
    if (name === "+") return quoted(scope.cwds[0] ?? "");
    if (name === "-") return { ...quoted("~-"), isKnown: false };
    return quoted(name === "root" ? "/root" : `/home/${name}`);
  }

  private partPieces(parts: readonly WordPart[], scope: Scope, isQuoted: boolean): Piece[] {
    return parts.flatMap((part) => this.partPiece(part, scope, isQuoted));
  }

  private partPiece(part: WordPart, scope: Scope, isQuoted: boolean): Piece[] {
    switch (part.type) {
      case "Literal":
        return [isQuoted ? quoted(part.value) : bare(part.value, part.text)];
      case "SingleQuoted":
      case "AnsiCQuoted":
        return [quoted(part.value)];
      case "DoubleQuoted":
      case "LocaleString":
        return [quoted(""), ...this.partPieces(part.parts, scope, true)];
      case "Glob":
        return [{ ...bare(part.value, part.text), hasGlob: true }];
      case "ExtendedGlob":
        if (part.parts) this.partPieces(part.parts, scope, false);
        return [{ ...bare(part.text, part.text), hasGlob: true, isKnown: false }];
      case "BraceExpansion":
        return [bare(part.text, part.text)];
      case "SimpleExpansion":
        return [this.variable(part.text.slice(1), part.text, scope, isQuoted)];
      case "ParameterExpansion":
        return this.parameter(part, scope, isQuoted);
      case "CommandExpansion":
      case "ProcessSubstitution": {
        const start = this.parts.length;
        if (part.script) this.script(part.script, { ...fork(scope), before: [], stdin: undefined });
        const runs = this.parts.slice(start);
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
        const isPlain = part.expression ? this.arithmetic(part.expression, scope, runs) : false;
        return [{ ...quoted(part.text), isKnown: false, isQuoted, isUnsafe: !isPlain, runs }];
      }
    }
  }

  /** True when only numbers are in it: arithmetic on anything else may run a subscript. */
  private arithmetic(node: ArithmeticExpression, scope: Scope, runs: Part[]): boolean {
    switch (node.type) {
      case "ArithmeticBinary": {
        const left = this.arithmetic(node.left, scope, runs);
        return this.arithmetic(node.right, scope, runs) && left;
      }
      case "ArithmeticUnary":
        return this.arithmetic(node.operand, scope, runs);
      case "ArithmeticTernary":
        return [node.test, node.consequent, node.alternate].map((each) => this.arithmetic(each, scope, runs)).every(Boolean);
      case "ArithmeticGroup":
        return this.arithmetic(node.expression, scope, runs);
      case "ArithmeticWord": {
        const start = this.parts.length;
        const pieces = node.parts ? this.partPieces(node.parts, scope, true) : [];
        runs.push(...this.parts.slice(start));
        const value = node.parts ? pieces.map((piece) => piece.text).join("") : (scope.variables.get(node.value)?.text ?? node.value);
        return /^[\s\d]*$/.test(value) && pieces.every((piece) => piece.isKnown);
      }
      case "ArithmeticCommandExpansion": {
        const start = this.parts.length;
        if (node.script) this.script(node.script, fork(scope));
        runs.push(...this.parts.slice(start));
        return false;
      }
    }
  }

  private variable(name: string, source: string, scope: Scope, isQuoted: boolean): Piece {
    const value = scope.variables.get(name);
    if (!value) return { ...quoted(source), isKnown: false, isQuoted };
    if (!value.isKnown) return { ...quoted(source), isKnown: false, isQuoted, runs: value.runs, isUnsafe: false };
    return { ...quoted(value.text), isQuoted, isSplit: !isQuoted, hasGlob: !isQuoted && /[*?[]/.test(value.text), runs: value.runs };
  }

  private parameter(part: ParameterExpansionPart, scope: Scope, isQuoted: boolean): Piece[] {
    const unknown: Piece = { ...quoted(part.text), isKnown: false, isQuoted };
    const { operation } = part;
    if (part.index) this.fields(part.index, scope);
    if (part.prefix === "#") return [unknown];
    if (part.prefix === "!" || part.index)
      return [{ ...unknown, isUnsafe: part.prefix === "!" || !/^[\d@*]+$/.test(part.index?.text ?? "") }];
    if (!operation) return [this.variable(part.parameter, part.text, scope, isQuoted)];
    const value = scope.variables.get(part.parameter);
    switch (operation.type) {
      case "Default": {
        const operand = join(this.pieces(operation.operand, scope), operation.operand.text);
        if (operation.operator.endsWith("+") || operation.operator.endsWith("?")) return [{ ...unknown, runs: operand.runs }];
        if (value?.isKnown && value.text !== "") return [this.variable(part.parameter, part.text, scope, isQuoted)];
        if (value?.isKnown && operand.isKnown) return [{ ...quoted(operand.text), isQuoted, isSplit: !isQuoted }];
        return [{ ...unknown, runs: [...operand.runs, ...(value?.runs ?? [])] }];
      }
      case "Remove":
      case "CaseModification":
      case "Transform":
        if (operation.operand) this.fields(operation.operand, scope);
        return [{ ...unknown, runs: value?.runs ?? [], isUnsafe: operation.type === "Transform" && /[PE]/.test(operation.operand.text) }];
      case "Replace":
        this.fields(operation.pattern, scope);
        this.fields(operation.replacement, scope);
        return [{ ...unknown, runs: value?.runs ?? [] }];
      case "Slice": {
        const plain = [operation.offset, operation.length].every((word) => {
          if (!word) return true;
          this.fields(word, scope);
          return /^\s*-?\d*\s*$/.test(word.text);
        });
        return [{ ...unknown, runs: value?.runs ?? [], isUnsafe: !plain }];
      }
      case "Names":
      case "Unknown":
        return [{ ...unknown, isUnsafe: operation.type === "Unknown" }];
    }
  }
}

type Found = {
  words: readonly Word[];
  assignments: readonly Assignment[];
  redirects?: readonly Redirect[];
  stdin?: string | undefined;
};

function ends(parts: readonly Part[]): readonly Part[] {
  return parts.length <= 2 * PIPE_MEMORY ? parts : [...parts.slice(0, PIPE_MEMORY), ...parts.slice(-PIPE_MEMORY)];
}
