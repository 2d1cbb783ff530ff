export const EFFORTS = ["low", "medium", "high", "xhigh", "max"] as const;
type Effort = (typeof EFFORTS)[number];

/** `true` and "adaptive" leave the amount to the model, a number is a budget in tokens; `false` asks for none where that can be said. */
export type Thinking = boolean | "adaptive" | Effort | number;

/** How a server with OpenAI's chat protocol is told to think. */
export const THINKING_STYLES = [
  "reasoning_effort",
  "type",
  "type_and_effort",
  "clear_thinking",
  "enable_thinking",
  "chat_template_kwargs",
  "reasoning",
  "none",
] as const;
export type ThinkingStyle = (typeof THINKING_STYLES)[number];

type Fields = Record<string, unknown>;

const BUDGETS: Readonly<Record<Effort, number>> = { low: 4096, medium: 10_000, high: 16_000, xhigh: 24_000, max: 31_000 };
/** These know budgets only; from 4.6 on the model itself decides, and from 4.7 on a budget is refused. */
const BUDGET_ONLY = /claude-(3-7|\w+-4(-[0-5])?(-\d{8}|$|-v\d|@))/;
const ADAPTIVE_ONLY = /claude-\w+-(4-[7-9]|[5-9])/;

export function anthropicThinking(thinking: Thinking | undefined, model: string, maxTokens: number): Fields {
  if (thinking === undefined || thinking === false) return {};
  const id = model.replaceAll(".", "-");
  const budget = typeof thinking === "number" ? thinking : BUDGET_ONLY.test(id) ? BUDGETS[effortOf(thinking) ?? "medium"] : undefined;
  if (budget !== undefined && !ADAPTIVE_ONLY.test(id)) {
    // A budget has to be smaller than the limit of the whole answer.
    const fitting = Math.min(budget, maxTokens - 1024);
    return fitting < 1024 ? {} : { thinking: { type: "enabled", budget_tokens: fitting } };
  }
  const effort = typeof thinking === "number" ? undefined : effortOf(thinking);
  return { thinking: { type: "adaptive" }, ...(effort ? { output_config: { effort } } : {}) };
}

export function chatThinking(thinking: Thinking | undefined, style: ThinkingStyle): Fields {
  if (thinking === undefined) return {};
  const isOn = thinking !== false;
  const effort = effortOf(thinking);
  switch (style) {
    case "reasoning_effort":
      return isOn ? { reasoning_effort: effort ?? "medium" } : {};
    case "type":
      return { thinking: { type: isOn ? "enabled" : "disabled" } };
    case "type_and_effort":
      return { thinking: { type: isOn ? "enabled" : "disabled" }, ...(effort ? { reasoning_effort: threeSteps(effort) } : {}) };
    case "clear_thinking":
      return { thinking: isOn ? { type: "enabled", clear_thinking: false } : { type: "disabled" } };
    case "enable_thinking":
      return { enable_thinking: isOn, ...(typeof thinking === "number" ? { thinking_budget: thinking } : {}) };
    case "chat_template_kwargs":
      return { chat_template_kwargs: { enable_thinking: isOn } };
    case "reasoning":
      return { reasoning: typeof thinking === "number" ? { max_tokens: thinking } : effort ? { effort } : { enabled: isOn } };
    case "none":
      return {};
  }
}

export function responsesThinking(thinking: Thinking | undefined): Fields {
  if (thinking === undefined || thinking === false) return {};
  return { reasoning: { effort: effortOf(thinking) ?? "medium", summary: "auto" } };
}

function effortOf(thinking: Thinking): Effort | undefined {
  if (typeof thinking === "number") return thinking <= 4096 ? "low" : thinking <= 16_000 ? "medium" : "high";
  return EFFORTS.find((effort) => effort === thinking);
}

/** DeepSeek has no more of them. */
function threeSteps(effort: Effort): string {
  if (effort === "low") return "low";
  return effort === "medium" || effort === "high" ? "high" : "max";
}
