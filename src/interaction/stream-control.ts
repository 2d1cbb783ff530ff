import { UserError } from "../protocol/errors.ts";
import { PERMISSION_MODES } from "../protocol/permission.ts";
import type { OpenedSession } from "../runtime/open-session.ts";
import type { InputItem } from "./stream-input.ts";

type Control = Extract<InputItem, { type: "control" }>;

/** What a program asks for beside its messages. `interrupt` ends the run at hand; the next message is a run as ever. */
export async function answerControl({ id, request, details }: Control, session: OpenedSession, interrupt: () => void): Promise<object> {
  try {
    return { subtype: "success", request_id: id, response: await carryOut(request, details, session, interrupt) };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { subtype: "error", request_id: id, error: error.message };
  }
}

async function carryOut(request: string, details: Control["details"], session: OpenedSession, interrupt: () => void): Promise<object> {
  switch (request) {
    case "initialize":
      return initialized(session);
    case "interrupt":
      interrupt();
      return {};
    case "set_permission_mode": {
      const mode = PERMISSION_MODES.find((one) => one === details.mode);
      if (!mode) throw new UserError(`There is no mode "${String(details.mode)}". Modes: ${PERMISSION_MODES.join(", ")}.`);
      session.setMode(mode);
      return { mode };
    }
    case "set_model":
      if (typeof details.model !== "string") throw new UserError("set_model needs a model, as [provider/]id.");
      return { model: session.useModel(details.model).name };
    case "mcp_status":
      return { mcpServers: session.mcp?.status() ?? [] };
    default:
      throw new UserError(`There is no request "${request}" here.`);
  }
}

/** In the shape that public agent SDKs read. */
async function initialized(session: OpenedSession): Promise<object> {
  const [{ slashCompletions }, { SLASH_COMMANDS }] = await Promise.all([import("./slash/completions.ts"), import("./slash/registry.ts")]);
  const commands = (await slashCompletions(SLASH_COMMANDS, session)).filter(({ type }) => type !== "local-ui");
  const model = session.modelName();
  return {
    commands: commands.map(({ name, description, argumentHint = "" }) => ({ name, description, argumentHint })),
    agents: [],
    output_style: "default",
    available_output_styles: ["default"],
    models: [{ value: model, displayName: model, description: "" }],
    account: {},
  };
}
