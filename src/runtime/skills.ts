import type { ResolvedCall } from "../engine/run-tool.ts";
import type { Message, TextBlock, ToolUseBlock } from "../protocol/message.ts";
import type { ToolSpec } from "../protocol/model.ts";
import { escapeSystemTags } from "../protocol/system-tags.ts";
import { errorResult, type Tool, type ToolContext, type ToolResult, textResult } from "../protocol/tool.ts";
import type { AllowList } from "../safety/allow-list.ts";
import type { BashOptions } from "../tools/bash/bash-options.ts";
import type { ShellState } from "../tools/bash/shell-state.ts";
import { loadSkillTool } from "../tools/builtin/load-skill.ts";
import type { FoundSkills } from "../tools/skills/find-skills.ts";
import { type ListedSkill, quickList } from "../tools/skills/quick-list.ts";
import type { Skill } from "../tools/skills/skill.ts";
import type { Refuse, SkillPlace } from "../tools/skills/skill-files.ts";
import { skillsReminder } from "../tools/skills/skill-list.ts";

/** Runs a skill apart from the conversation and gives its report; `prompt` are its words with what was given in their places. */
export type RunApart = (skill: Skill, prompt: string, context: Pick<ToolContext, "callId" | "signal">) => Promise<ToolResult>;

type SkillParts = {
  shell: ShellState;
  bash: BashOptions;
  addTools(tools: readonly Tool[]): void;
  /** Makes tools of servers callable that were announced by name only. */
  discover(names: readonly string[]): Promise<void>;
  /** Absent in a sub-agent, which is apart already. */
  runApart?: RunApart | undefined;
  /** It has no tools that a skill could work with: each works apart. */
  isCoordinator?: boolean;
};

/** The skills of one conversation. Files are read anew at each use. */
export class Skills {
  readonly #places: readonly SkillPlace[];
  readonly #commands: readonly SkillPlace[];
  readonly #refuse: Refuse;
  #parts: SkillParts | undefined;
  readonly #lists: AllowList[] = [];
  /** Tools of skills that were brought, and the folder of each one's skill. */
  readonly #brought = new Map<string, string>();
  #reminders: string[] = [];

  constructor(places: readonly SkillPlace[], commands: readonly SkillPlace[], refuse: Refuse) {
    this.#places = places;
    this.#commands = commands;
    this.#refuse = refuse;
  }

  /** LoadSkill, once there is an agent to load into. */
  tool(parts: SkillParts): Tool {
    this.#parts = parts;
    return loadSkillTool((name, given, context) => this.#load(name, given, context));
  }

  /** For the permissions of the conversation: what skills leave of the tools until the turn ends, and where their files may be read. */
  get scope(): { readRoots: string[]; allowLists: () => readonly AllowList[] } {
    // The project's too: who works in a worktree is elsewhere.
    return { readRoots: this.#places.map(({ folder }) => folder), allowLists: () => this.#lists };
  }

  /** The list goes out with the next request. */
  async tell(): Promise<void> {
    this.#reminders.push(...(await this.news([])));
  }

  /** The person speaks again: what a skill took away is there again. */
  turnEnded(): void {
    this.#lists.length = 0;
    this.#reminders = [];
  }

  /** For the next request of the turn: what a skill that was loaded leaves. */
  takeReminder(): string | undefined {
    const reminders = this.#reminders.splice(0);
    return reminders.length === 0 ? undefined : reminders.join("\n\n");
  }

  /** The list for the next message, or what is new of it: what this conversation holds counts as told, after a step back too. */
  async news(history: readonly Message[]): Promise<string[]> {
    const told = history.length === 0 ? "" : toldText(history);
    const reminder = skillsReminder(await this.#listed(), told);
    return reminder === undefined ? [] : [reminder];
  }

  /** A tool that an earlier process brought into this conversation, which still names it; undefined for any other. */
  async resolve({ name, input }: ToolUseBlock, sent: readonly ToolSpec[]): Promise<ResolvedCall | undefined> {
    if (!name.startsWith("skill__") || this.#brought.has(name) || !sent.some((tool) => tool.name === name)) return undefined;
    const { toolName } = await import("../tools/skills/tool-json.ts");
    const { skills } = await this.find();
    const skill = skills.find((one) => one.folder !== undefined && name.startsWith(toolName(one.name, "")));
    const tool = skill && (await this.bring(skill)).tools.find((one) => one.name === name);
    return tool ? { tool, input } : { refusal: `The skill that brought ${name} is gone, or it is off.` };
  }

  async find(): Promise<FoundSkills> {
    const { findSkills } = await import("../tools/skills/find-skills.ts");
    return findSkills(this.#places, this.#refuse);
  }

  async findCommands(): Promise<FoundSkills> {
    const { findCommands } = await import("../tools/skills/command-files.ts");
    return findCommands(this.#commands);
  }

  /** What the person called by name, for the next message: its words, or the report of one that works apart. */
  async call(skill: Skill, given: string, signal: AbortSignal): Promise<TextBlock[]> {
    const result = await this.#use(skill, given, { callId: "", signal });
    const reminder = this.takeReminder();
    const words = result.content.filter((block) => block.type === "text");
    return [
      ...words.map(({ text }): TextBlock => ({ type: "text", text: escapeSystemTags(text) })),
      ...(reminder ? [{ type: "text" as const, text: reminder }] : []),
    ];
  }

  async #listed(): Promise<ListedSkill[]> {
    const quick = await quickList(this.#places, this.#refuse);
    return quick ?? (await this.find()).skills.filter(({ isForModel }) => isForModel);
  }

  async #load(name: string, given: string, context: ToolContext): Promise<ToolResult> {
    const { skills, findings } = await this.find();
    const skill = skills.find((one) => one.name === name.replace(/^\//, ""));
    if (skill && !skill.isForModel) return errorResult(`The skill "${name}" is for the user to call only.`);
    if (skill) return this.#use(skill, given, context);
    const refused = findings.find((finding) => finding.name === name && finding.verdict === "refuse");
    if (refused) return errorResult(`The skill "${name}" can't be used: ${refused.file}: ${refused.reason}.`);
    return errorResult(`There is no skill "${name}". Skills: ${skills.map((one) => one.name).join(", ")}.`);
  }

  async #use(skill: Skill, given: string, context: Pick<ToolContext, "callId" | "signal">): Promise<ToolResult> {
    const { fillArguments } = await import("../tools/skills/fill-arguments.ts");
    const parts = this.#parts;
    if (!parts) throw new Error("A skill is used by an agent only.");
    const body = fillArguments(skill.body, given);
    const prompt = skill.folder === undefined ? body : `Files of this skill lie in ${skill.folder}\n\n${body}`;
    const { name, allowedTools } = skill;
    if (parts.runApart && (skill.mode === "fork" || parts.isCoordinator)) return parts.runApart(skill, prompt, context);
    const own = await this.bring(skill);
    await parts.discover((allowedTools ?? []).filter((tool) => tool.startsWith("mcp__")));
    if (allowedTools) {
      const tools = [...allowedTools, ...own.tools.map((tool) => tool.name)];
      this.#lists.push({ name: `the skill "${name}"`, tools });
      this.#reminders.push(
        `<system-reminder>The skill "${escapeSystemTags(name)}" leaves only these tools until your turn ends: ${escapeSystemTags(tools.join(", ")) || "none"}. Any other call is refused.</system-reminder>`,
      );
    }
    const problems = own.problems.length > 0 ? `\n\n[Of its tools: ${own.problems.join("; ")}]` : "";
    return textResult(`Skill "${name}":\n\n${prompt}${problems}`);
  }

  /** The tools of its tool.json can be called from now on. */
  async bring({ name, folder }: Skill): Promise<{ tools: Tool[]; problems: string[] }> {
    const parts = this.#parts;
    if (folder === undefined || !parts) return { tools: [], problems: [] };
    const [{ readToolJson }, { skillTool }] = await Promise.all([
      import("../tools/skills/tool-json.ts"),
      import("../tools/skills/skill-tool.ts"),
    ]);
    const { tools, problems } = await readToolJson(name, folder);
    // Names of skills are shortened to what a tool's name may hold, so two may meet.
    const isTaken = (tool: string) => (this.#brought.get(tool) ?? folder) !== folder;
    const free = tools.filter((tool) => !isTaken(tool.name));
    for (const tool of free) this.#brought.set(tool.name, folder);
    const made = free.map((definition) => skillTool(definition, folder, parts.shell, parts.bash));
    parts.addTools(made);
    return {
      tools: made,
      problems: [...problems, ...tools.filter((tool) => isTaken(tool.name)).map((tool) => `another skill has a tool ${tool.name}`)],
    };
  }
}

/** All text that a conversation holds from the person's side. */
function toldText(history: readonly Message[]): string {
  const told = history.filter(({ role }) => role === "user");
  return told.flatMap(({ content }) => content.flatMap((block) => (block.type === "text" ? [block.text] : []))).join("\n");
}
