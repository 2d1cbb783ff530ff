import { isAbsolute } from "node:path";
import { UserError } from "../../protocol/errors.ts";
import type { PermissionDecision, PermissionRequest } from "../../protocol/permission.ts";
import { costText } from "../../runtime/cost-text.ts";
import { openSession } from "../../runtime/open-session.ts";
import { type GlobalFlags, readSurroundings, type Surroundings } from "../../runtime/surroundings.ts";
import { Attention } from "../attention.ts";
import { outliveOutput } from "../lost-output.ts";
import { openScreen } from "../open-screen.ts";
import { runRepl } from "../repl.ts";
import type { SessionScreen } from "../screen.ts";
import { SteeringQueue } from "../steering-queue.ts";
import { sessionTeamScreen } from "../team-screen.ts";
import { offerLocal, requireInput } from "./before-chat.ts";
import { offerTrust } from "./offer-trust.ts";

export type ChatArguments = GlobalFlags & {
  prompt: string | undefined;
  maxTurns: number;
  resume?: string | undefined;
  mcpConfig?: readonly string[] | undefined;
  /** It starts in Coordinator Mode. */
  isCoordinator?: boolean | undefined;
};

/** Bare `roocode`: a line REPL. The session stays resumable, however it ends. */
export async function chatCommand(args: ChatArguments): Promise<number> {
  outliveOutput();
  // In the list of processes a prompt is read by others, and `pkill -f` of words in it would end this process.
  if (args.prompt !== undefined) process.title = "roocode";
  await requireInput(args.prompt);
  const surroundings = await offerLocal(await offerTrust(await readSurroundings(process.cwd(), process.env, args)));
  const queue = new SteeringQueue();
  const choices = args.resume === "" ? await choicesIn(surroundings) : undefined;
  const shown = await openScreen(surroundings, queue);
  try {
    const chosen = choices ? await shown.screen.pick(choices.title, choices.items) : args.resume;
    if (choices && chosen === undefined) {
      shown.screen.close();
      shown.screen.dim("No conversation was chosen.");
      return 0;
    }
    let next: Conversation | undefined = { surroundings, resume: chosen, prompt: args.prompt, isFirst: true };
    while (next) next = await converse(next, args, shown, queue);
  } finally {
    shown.screen.close();
  }
  return 0;
}

/** A file is changed by words that the person should see before. A sub-agent may work elsewhere: only a full path says where. */
async function withChange(request: PermissionRequest, decision: PermissionDecision, cwd: string): Promise<PermissionDecision> {
  const { call, agent } = request;
  const isHere = agent === "main" || (typeof call?.input.path === "string" && isAbsolute(call.input.path));
  if (!call || !isHere || decision.detail !== undefined) return decision;
  const { proposedChange } = await import("../../tools/proposed-change.ts");
  const detail = await proposedChange(call, cwd);
  return detail === undefined ? decision : { ...decision, detail };
}

/** `--resume` without an id. */
async function choicesIn({ data, projectRoot }: Surroundings) {
  if (!process.stdin.isTTY) throw new UserError("--resume needs an id where there is no terminal to choose in: roocode sessions list");
  const { CHOOSE_SESSION, sessionItems } = await import("../choose-session.ts");
  const items = sessionItems(data.sessions(projectRoot));
  if (items.length === 0) throw new UserError("There is no earlier session of this project to continue. Start one with: roocode");
  return { title: CHOOSE_SESSION, items };
}

type Conversation = { surroundings: Surroundings; resume: string | undefined; prompt?: string | undefined; isFirst?: boolean };

/** One conversation to its end; gives the one that the person goes on with. */
async function converse(
  { surroundings, resume, prompt, isFirst }: Conversation,
  args: ChatArguments,
  { screen, attach }: SessionScreen,
  queue: SteeringQueue,
): Promise<Conversation | undefined> {
  queue.clear();
  const attention = new Attention();
  let isOver = false;
  await using session = await openSession(surroundings, {
    maxTurns: args.maxTurns,
    resume,
    mcpConfig: args.mcpConfig,
    steering: () => queue.take(),
    askHuman: async (permissions, request, decision, signal) =>
      attention.ask(async () => {
        const shown = await withChange(request, decision, surroundings.cwd);
        return screen.askPermission(request, shown, await permissions.alwaysRule(request, decision), signal);
      }),
    askUser: (question, options, signal) => screen.choose(question, options, signal),
    elicit: async (...question) => {
      const { formQuestions } = await import("../elicitation.ts");
      return formQuestions({ ask: (text, signal) => screen.ask(text, signal), choose: (...choice) => screen.choose(...choice) })(
        ...question,
      );
    },
    approvePlan: (plan, file, signal) => screen.askPlan(plan, file, signal),
    ...(args.isCoordinator ? { isCoordinator: true } : {}),
    // How the session's end ends them stands behind its last line.
    onSubagentEvent: ({ label }, event) => isOver || screen.event(event, label),
    onNews: () => attention.wake(),
    teamScreen: (team) => sessionTeamScreen(screen, attention, team),
    onProblem: (text) => screen.line(text),
    onRemembered: (text) => screen.dim(text),
  });
  attach(session);
  if (resume !== undefined && session.agent.history.length > 0) {
    const { earlierMessages } = await import("../earlier-messages.ts");
    screen.earlier(earlierMessages(session.agent.history));
  }
  for (const note of session.notes) screen.dim(note);
  screen.dim(`RooCode, model ${session.model()}, mode ${session.mode()}, session ${session.id}. /help lists commands, /exit ends it.`);
  if (isFirst && process.stdin.isTTY && process.stdout.isTTY) {
    const { tellOfUpdate } = await import("../update-notice.ts");
    await tellOfUpdate(surroundings, (text) => screen.dim(text));
  }
  const end = await runRepl(session, screen, queue, attention, prompt);
  isOver = true;
  const isNew = typeof end === "object" && end.open === undefined;
  if (isNew) screen.clear();
  const goOn = session.session.unsaved === 0 ? `Go on later with: roocode --resume ${session.id}` : "The session could not be saved.";
  screen.dim(`${costText(session.spending)}. ${goOn}`);
  if (typeof end !== "object") return undefined;
  // What the person chose meanwhile counts on; an earlier conversation has its own model.
  const flags = { ...surroundings.flags, permissionMode: session.mode(), ...(isNew ? { model: session.model() } : { model: undefined }) };
  return { surroundings: { ...surroundings, flags }, resume: end.open };
}
