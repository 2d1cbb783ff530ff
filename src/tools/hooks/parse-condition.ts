/** Fields that a condition may ask for, beside `path` and `input.…`. An event that has no such field has no value there. */
const FIELDS = [
  ...["event", "tool", "command", "prompt", "agent", "agent_type", "team", "task", "worktree", "cwd", "mode", "source"],
  ...["kind", "from", "text", "trigger", "reason", "subject", "teammate", "branch"],
] as const;

export type Comparison = {
  type: "comparison";
  field: string;
  /** `is`: a field by itself, which holds where it has a value. */
  operator: "==" | "!=" | "=~" | "!~" | "matches" | "is";
  value: string | number | boolean | RegExp;
};
export type Expression = Comparison | { type: "or" | "and"; parts: Expression[] } | { type: "not"; part: Expression };

type Token = { type: "word" | "operator" | "text" | "number" | "expression"; text: string; flags?: string; at: number };

const MAX_CHARACTERS = 4_000;
const MAX_DEPTH = 50;
/** A slash begins an expression only where one is wanted. */
const TOKENS =
  /\s*(?:(?<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(?<operator>&&|\|\||==|!=|=~|!~|[!()])|(?<number>-?\d+(?:\.\d+)?)(?![\w.])|(?<word>[A-Za-z_][\w.-]*))/y;
const EXPRESSION = /\s*\/(?<source>(?:[^/\\[]|\\.|\[(?:[^\]\\]|\\.)*\])+)\/(?<flags>[a-z]*)/y;

/** `tool == "WriteFile" && !(path matches "src/**" || input.content =~ /x/i)`. Throws an Error that says what is wrong and where. */
export function parseExpression(text: string): Expression {
  if (text.length > MAX_CHARACTERS) throw new Error(`it is longer than ${MAX_CHARACTERS} characters`);
  const tokens = tokensOf(text);
  let next = 0;
  const peek = () => tokens[next];
  const isOperator = (wanted: string) => peek()?.type === "operator" && peek()?.text === wanted;
  const take = (): Token => {
    const token = tokens[next];
    if (!token) throw new Error("it ends too early");
    next += 1;
    return token;
  };

  function joined(type: "or" | "and", sign: string, part: (depth: number) => Expression, depth: number): Expression {
    const first = part(depth);
    const parts = [first];
    while (isOperator(sign)) {
      take();
      parts.push(part(depth));
    }
    return parts.length === 1 ? first : { type, parts };
  }
  const either = (depth: number): Expression => joined("or", "||", both, depth);
  const both = (depth: number): Expression => joined("and", "&&", single, depth);

  function single(depth: number): Expression {
    if (depth > MAX_DEPTH) throw new Error(`it is nested deeper than ${MAX_DEPTH}`);
    if (isOperator("!")) {
      take();
      return { type: "not", part: single(depth + 1) };
    }
    if (isOperator("(")) {
      take();
      const inner = either(depth + 1);
      const end = take();
      if (end.text !== ")") throw unexpected(end, '")"');
      return inner;
    }
    return comparison();
  }

  function comparison(): Comparison {
    const name = take();
    if (name.type !== "word") throw unexpected(name, "a field");
    const field = fieldNamed(name.text);
    const sign = peek();
    if (sign?.type === "word" && sign.text === "matches") {
      take();
      return { type: "comparison", field, operator: "matches", value: globOf(take()) };
    }
    if (sign?.type !== "operator") return { type: "comparison", field, operator: "is", value: true };
    switch (sign.text) {
      case "==":
      case "!=":
        take();
        return { type: "comparison", field, operator: sign.text, value: literalOf(take()) };
      case "=~":
      case "!~":
        take();
        return { type: "comparison", field, operator: sign.text, value: expressionOf(take()) };
      default:
        return { type: "comparison", field, operator: "is", value: true };
    }
  }

  const whole = either(0);
  const rest = peek();
  if (rest) throw unexpected(rest, "&&, || or the end");
  return whole;
}

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (text.slice(at).trim() !== "") {
    const wantsExpression = ["=~", "!~"].includes(tokens.at(-1)?.text ?? "") && tokens.at(-1)?.type === "operator";
    EXPRESSION.lastIndex = at;
    const expression = wantsExpression ? EXPRESSION.exec(text) : null;
    if (expression?.groups) {
      tokens.push({ type: "expression", text: expression.groups.source ?? "", flags: expression.groups.flags ?? "", at });
      at = EXPRESSION.lastIndex;
      continue;
    }
    TOKENS.lastIndex = at;
    const found = TOKENS.exec(text);
    if (!found?.groups) throw new Error(`nothing can be made of ${text.slice(at).trim().slice(0, 20)} (character ${at + 1})`);
    const [type, value = ""] = Object.entries(found.groups).find(([, one]) => one !== undefined) ?? [];
    if (type === "text") tokens.push({ type, text: value.slice(1, -1).replaceAll(/\\(["'\\])/g, "$1"), at });
    else if (type === "word" || type === "operator" || type === "number") tokens.push({ type, text: value, at });
    at = TOKENS.lastIndex;
  }
  if (tokens.length === 0) throw new Error("it is empty");
  return tokens;
}

function fieldNamed(name: string): string {
  const plain = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  if (name.startsWith("input.") && name.length > "input.".length) return name;
  if (plain === "path" || FIELDS.some((field) => field === plain)) return plain;
  throw new Error(`there is no field "${name}". Fields: path, input.NAME, ${FIELDS.join(", ")}`);
}

function literalOf(token: Token): string | number | boolean {
  if (token.type === "text") return token.text;
  if (token.type === "number") return Number(token.text);
  if (token.type === "word" && (token.text === "true" || token.text === "false")) return token.text === "true";
  throw unexpected(token, "a text in quotes, a number, true or false");
}

function globOf(token: Token): string {
  if (token.type !== "text") throw unexpected(token, "a text in quotes");
  if (token.text === "") throw new Error('"" stands for nothing; a pattern has at least one character');
  return token.text;
}

function expressionOf(token: Token): RegExp {
  if (token.type !== "expression") throw unexpected(token, "an expression between slashes");
  const flags = token.flags ?? "";
  if (/[^imsu]/.test(flags)) throw new Error(`an expression may have the flags i, m, s and u, not "${flags}"`);
  try {
    return new RegExp(token.text, flags);
  } catch (error) {
    throw new Error(`/${token.text}/ is no regular expression: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function unexpected(token: Token, wanted: string): Error {
  return new Error(`"${token.text}" stands where ${wanted} should (character ${token.at + 1})`);
}
