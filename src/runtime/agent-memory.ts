import { memoryReminder } from "../memory/auto-memory/memory-index.ts";
import type { MemoryStore } from "../memory/auto-memory/memory-store.ts";
import { instructionsReminder, loadInstructions } from "../memory/instructions.ts";
import { NestedInstructions } from "../memory/nested-instructions.ts";
import type { AgentInput, Pending } from "../protocol/agent.ts";
import type { TextBlock } from "../protocol/message.ts";
import type { Tool } from "../protocol/tool.ts";
import { maskSecrets } from "../safety/secrets.ts";
import { absolutePath } from "../tools/workspace-path.ts";
import { mayInclude } from "./may-include.ts";
import { memoryFolders } from "./memory-folders.ts";
import type { Surroundings } from "./surroundings.ts";

const FILE_TOOLS = new Set(["ReadFile", "EditFile", "WriteFile"]);

/** Instruction files and memories of one agent; the root's are the primary checkout's, nested ones those of its own `root`. */
export type AgentMemory = {
  /** What stands before the words of a conversation's first message. */
  opening(): Promise<{ blocks: TextBlock[]; notes: string[] }>;
  /** All that applies by now, read again: for a conversation that begins anew behind a summary. */
  instructionReminders(): Promise<string[]>;
  /** The same tools; files that the file tools touch bring the instructions of their folders. */
  watched(tools: readonly Tool[]): Tool[];
  /** With what `own` gives, the instructions that newly apply. */
  pending(own: (() => Promise<Pending | undefined>) | undefined): () => Promise<Pending | undefined>;
  /** Instructions of folders may have gone with what the conversation went back over. */
  wentBack(): void;
};

/** Which memories a sub-agent begins with. */
export type MemoryScope = "user" | "project" | "none";

/** `isTrusted`: the person has accepted what the project brings; else its memories are not the project's word either. */
export function agentMemory(surroundings: Surroundings, root: string, isTrusted: boolean, scope?: MemoryScope): AgentMemory {
  const { projectRoot, home, data } = surroundings;
  const rules = { home, mayInclude: mayInclude(surroundings, root) };
  const seen = new Set<string>();
  const nested = new NestedInstructions(root, rules, seen);
  async function reminders(read: Set<string>): Promise<{ texts: string[]; notes: string[] }> {
    const instructions = await loadInstructions({ ...rules, projectRoot, userFile: data.instructions }, read);
    const isWanted = (isProject: boolean) => scope === undefined || scope === (isProject ? "project" : "user");
    const memories = await memoryReminder(
      memoryFolders(surroundings).filter(({ isProject = false }) => (isTrusted || !isProject) && isWanted(isProject)),
    );
    return {
      texts: [
        ...(instructions?.text ? [instructionsReminder(instructions.text)] : []),
        ...(memories.text === undefined ? [] : [memories.text]),
      ],
      notes: [...(instructions?.notes ?? []), ...memories.notes],
    };
  }
  return {
    async opening() {
      const { texts, notes } = await reminders(seen);
      return { blocks: texts.map((text) => ({ type: "text", text })), notes };
    },
    async instructionReminders() {
      const { texts } = await reminders(new Set());
      const below = await nested.current();
      return below === undefined ? texts : [...texts, below];
    },
    watched: (tools) => tools.map((tool) => (FILE_TOOLS.has(tool.name) ? touching(tool, nested) : tool)),
    wentBack: () => nested.reset(),
    pending: (own) => async () => {
      const given = await own?.();
      const below = await nested.take();
      if (below === undefined) return given;
      return { mail: [], ...given, reminder: given?.reminder ? `${given.reminder}\n\n${below}` : below };
    },
  };
}

/** What a member of a team begins with. */
export async function firstInput(memory: AgentMemory, text: string, note: (text: string) => void): Promise<AgentInput> {
  const { blocks, notes } = await memory.opening();
  for (const one of notes) note(one);
  return { message: { role: "user", content: [...blocks, { type: "text", text }] } };
}

/** Loaded by those who list or change memories. */
export async function openMemories(surroundings: Surroundings): Promise<MemoryStore> {
  const { memoryStore } = await import("../memory/auto-memory/memory-store.ts");
  const [user, project = user] = memoryFolders(surroundings);
  if (!user || !project) throw new Error("There is always a folder for memories.");
  return memoryStore({ user, project }, (text) => maskSecrets(text) !== text);
}

function touching(tool: Tool, nested: NestedInstructions): Tool {
  return {
    ...tool,
    async run(input, context) {
      const result = await tool.run(input, context);
      if (!result.isError) for (const path of tool.access(input).paths ?? []) nested.touch(absolutePath(path, context.cwd));
      return result;
    },
  };
}
