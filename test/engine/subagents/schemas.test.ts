import { expect, test } from "vitest";
import type * as z from "zod";
import { agentSchema, agentTool } from "../../../src/engine/subagents/agent-tool.ts";
import { Subagents } from "../../../src/engine/subagents/background.ts";
import { sendSchema, sendToAgentTool } from "../../../src/engine/subagents/send-to-agent.ts";
import { taskCreateSchema, taskGetSchema, taskTools, taskUpdateSchema } from "../../../src/engine/subagents/task-tools.ts";
import { jsonSchemaOf } from "../../../src/protocol/define-tool.ts";
import { textResult } from "../../../src/protocol/tool.ts";
import { teamCreateSchema, teamCreateTool } from "../../../src/team/tools/team-create.ts";
import { exitPlanModeTool, exitPlanSchema } from "../../../src/tools/builtin/exit-plan-mode.ts";

const nothing = async () => textResult("");
const [create, get, , update] = taskTools({
  store: { read: async () => [], write: async () => undefined },
  agents: async () => new Subagents(),
});
const desk = {
  file: "",
  isPlanning: () => false,
  read: async () => "",
  write: nothing,
  approve: async () => undefined,
  leave: async () => undefined,
};

test.each<[string, () => z.ZodType, Record<string, unknown> | undefined]>([
  ["Agent", agentSchema, agentTool({ runSubagent: nothing }).inputSchema],
  ["SendMessage", sendSchema, sendToAgentTool(nothing, async () => []).inputSchema],
  ["TeamCreate", teamCreateSchema, teamCreateTool(nothing).inputSchema],
  ["TaskCreate", taskCreateSchema, create?.inputSchema],
  ["TaskGet", taskGetSchema, get?.inputSchema],
  ["TaskUpdate", taskUpdateSchema, update?.inputSchema],
  ["ExitPlanMode", exitPlanSchema, exitPlanModeTool({ ...desk, write: async () => undefined }).inputSchema],
])("what %s shows the model is what it checks", (_name, schema, shown) => {
  expect(shown).toEqual(jsonSchemaOf(schema()));
});
