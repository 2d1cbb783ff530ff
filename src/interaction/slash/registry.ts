import { agentsCommand } from "./agents.ts";
import { clearCommand } from "./clear.ts";
import type { SlashCommand } from "./command.ts";
import { compactCommand } from "./compact.ts";
import { configCommand } from "./config.ts";
import { contextCommand } from "./context.ts";
import { costCommand } from "./cost.ts";
import { doctorCommand } from "./doctor.ts";
import { exitCommands } from "./exit.ts";
import { exportCommand } from "./export.ts";
import { forgetCommand } from "./forget.ts";
import { helpCommand } from "./help.ts";
import { hooksCommand } from "./hooks.ts";
import { jobsCommand } from "./jobs.ts";
import { mcpCommand } from "./mcp.ts";
import { memoryCommand } from "./memory.ts";
import { modeCommand } from "./mode.ts";
import { modelCommand } from "./model.ts";
import { permissionsCommand } from "./permissions.ts";
import { queueCommand } from "./queue.ts";
import { rememberCommand } from "./remember.ts";
import { renameCommand } from "./rename.ts";
import { resumeCommand } from "./resume.ts";
import { rewindCommand } from "./rewind.ts";
import { skillsCommand } from "./skills.ts";
import { statusCommand } from "./status.ts";
import { teamCommand } from "./team.ts";
import { themeCommand } from "./theme.ts";

/** RooCode's own. What else can be typed are files: see `prompts.ts`. */
export const SLASH_COMMANDS: readonly SlashCommand[] = [
  agentsCommand,
  clearCommand,
  compactCommand,
  configCommand,
  contextCommand,
  costCommand,
  doctorCommand,
  ...exitCommands,
  exportCommand,
  forgetCommand,
  helpCommand(() => SLASH_COMMANDS),
  hooksCommand,
  jobsCommand,
  mcpCommand,
  memoryCommand,
  modeCommand,
  modelCommand,
  permissionsCommand,
  queueCommand,
  rememberCommand,
  renameCommand,
  resumeCommand,
  rewindCommand,
  skillsCommand,
  statusCommand,
  teamCommand,
  themeCommand,
];
