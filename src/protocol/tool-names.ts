/** The tools that RooCode brings; those of MCP servers and skills come on top. */
const OWN_NAMES = [
  ...["ReadFile", "WriteFile", "EditFile", "Glob", "Grep", "Bash", "BashOutput", "WebFetch", "Agent", "ToolSearch", "LoadSkill"],
  ...["AskUserQuestion", "ExitPlanMode", "TaskCreate", "TaskGet", "TaskList", "TaskUpdate", "TaskStop"],
  ...["SendMessage", "TeamCreate", "Converge"],
];

/** `grant`: its namesake here, if there is one. `deny`: all that it may mean; the same unless it says otherwise. */
type Alias = { grant: readonly string[]; deny?: readonly string[] };

const CHANGES_FILES = ["EditFile", "WriteFile"];
/** Names of other products, mostly Claude Code's. An empty list: known, and nothing here does it. */
const ALIASES: Readonly<Record<string, Alias>> = {
  Read: { grant: ["ReadFile"] },
  NotebookRead: { grant: ["ReadFile"] },
  Write: { grant: ["WriteFile"], deny: CHANGES_FILES },
  Edit: { grant: ["EditFile"], deny: CHANGES_FILES },
  MultiEdit: { grant: ["EditFile"], deny: CHANGES_FILES },
  NotebookEdit: { grant: [], deny: CHANGES_FILES },
  LS: { grant: ["Glob"] },
  Task: { grant: ["Agent"] },
  Skill: { grant: ["LoadSkill"] },
  SlashCommand: { grant: [], deny: ["LoadSkill"] },
  KillShell: { grant: ["TaskStop"] },
  KillBash: { grant: ["TaskStop"] },
  TaskOutput: { grant: ["BashOutput"] },
  WebSearch: { grant: [] },
  TodoWrite: { grant: [], deny: ["TaskCreate", "TaskUpdate"] },
  TodoRead: { grant: ["TaskList"] },
  EnterPlanMode: { grant: [] },
  ListMcpResourcesTool: { grant: ["ListMcpResources"] },
  ReadMcpResourceTool: { grant: ["ReadMcpResource"] },
};

const BY_LOWER_NAME = new Map([
  ...Object.entries(ALIASES).map(([name, alias]): [string, Alias] => [name.toLowerCase(), alias]),
  ...OWN_NAMES.map((name): [string, Alias] => [name.toLowerCase(), { grant: [name] }]),
]);

/**
 * What a tool's name in a definition, a skill or a hook's condition means here. Names of MCP tools stand for themselves. Undefined for a
 * name that nobody knows: it is to be reported. Without regard to case.
 */
export function toolsNamed(name: string, purpose: "grant" | "deny"): readonly string[] | undefined {
  if (name.startsWith("mcp__")) return [name];
  const alias = BY_LOWER_NAME.get(name.toLowerCase());
  return purpose === "deny" ? (alias?.deny ?? alias?.grant) : alias?.grant;
}

/** The other direction: other products' names that mean one of these tools. */
export function foreignNames(tools: readonly string[], purpose: "grant" | "deny"): string[] {
  return Object.keys(ALIASES).filter((name) => toolsNamed(name, purpose)?.some((tool) => tools.includes(tool)));
}
