/** The tools that RooCode brings; those of MCP servers and skills come on top. */
const OWN_NAMES = [
  ...["ReadFile", "WriteFile", "EditFile", "Glob", "Grep", "Bash", "BashOutput", "WebFetch", "Agent", "ToolSearch", "LoadSkill"],
  ...["AskUserQuestion", "ExitPlanMode", "TaskCreate", "TaskGet", "TaskList", "TaskUpdate", "TaskStop"],
  ...["SendMessage", "TeamCreate", "Converge"],
];

/** `grant`: its namesake here, if there is one. `deny`: all that it may mean; the same unless it says otherwise. */
type Alias = { grant: readonly string[]; deny?: readonly string[] };

const CHANGES_FILES = ["EditFile", "WriteFile"];
/** Names of other products, mostly Claude Code's, without regard to case. An empty list: known, and nothing here does it. */
const ALIASES: Readonly<Record<string, Alias>> = {
  read: { grant: ["ReadFile"] },
  notebookread: { grant: ["ReadFile"] },
  write: { grant: ["WriteFile"], deny: CHANGES_FILES },
  edit: { grant: ["EditFile"], deny: CHANGES_FILES },
  multiedit: { grant: ["EditFile"], deny: CHANGES_FILES },
  notebookedit: { grant: [], deny: CHANGES_FILES },
  ls: { grant: ["Glob"] },
  task: { grant: ["Agent"] },
  skill: { grant: ["LoadSkill"] },
  slashcommand: { grant: [], deny: ["LoadSkill"] },
  killshell: { grant: ["TaskStop"] },
  killbash: { grant: ["TaskStop"] },
  taskoutput: { grant: ["BashOutput"] },
  websearch: { grant: [] },
  todowrite: { grant: [], deny: ["TaskCreate", "TaskUpdate"] },
  todoread: { grant: ["TaskList"] },
  enterplanmode: { grant: [] },
  listmcpresourcestool: { grant: ["ListMcpResources"] },
  readmcpresourcetool: { grant: ["ReadMcpResource"] },
};

const BY_LOWER_NAME = new Map([
  ...Object.entries(ALIASES),
  ...OWN_NAMES.map((name): [string, Alias] => [name.toLowerCase(), { grant: [name] }]),
]);

/**
 * What a tool's name in a definition, a skill or a hook's condition means here. Names of MCP tools stand for themselves. Undefined for a
 * name that nobody knows: it is to be reported.
 */
export function toolsNamed(name: string, purpose: "grant" | "deny"): readonly string[] | undefined {
  if (name.startsWith("mcp__")) return [name];
  const alias = BY_LOWER_NAME.get(name.toLowerCase());
  return purpose === "deny" ? (alias?.deny ?? alias?.grant) : alias?.grant;
}
