import yargs, { type Argv } from "yargs";
import { UserError } from "../../protocol/errors.ts";
import { PERMISSION_MODES } from "../../protocol/permission.ts";
import { globalFlags } from "../global-flags.ts";
import { OUTPUT_FORMATS } from "../print.ts";
import { knownNames, SHELLS } from "./completion.ts";
import { hooksCommands, importCommands } from "./hooks-commands.ts";
import { MCP_CONFIG, mcpCommands } from "./mcp-commands.ts";
import { memoryCommands } from "./memory-commands.ts";
import { sessionsCommands } from "./sessions-commands.ts";
import { commandFilesCommands, skillsCommands } from "./skills-commands.ts";
import { talk } from "./talk.ts";
import { teamCommands } from "./team-commands.ts";

const ONE_COMMAND = "Name one of its commands.";

/** What yargs would complete by itself. */
type OwnCompletion = (onCompleted?: (error: Error | null, words: string[] | undefined) => void) => unknown;

/** Reads the command line and runs one command; resolves with its exit code. */
export async function runCommandLine(argv: readonly string[], version: string, startTalk = talk): Promise<number> {
  let exitCode = 0;
  const run = (command: Promise<number>) =>
    command.then((code) => {
      exitCode = code;
    });

  // yargs would take a command's word behind "--" for the command.
  const end = argv.indexOf("--");
  const behind = end < 0 ? [] : argv.slice(end + 1);

  // Without a value it would take the goal for one.
  const words = (end < 0 ? argv : argv.slice(0, end)).map((word) => (word === "--plan" ? "--plan=lead" : word));

  const isCompleting = argv[0] === "--get-yargs-completions";
  await yargs(words)
    .scriptName("roocode")
    .usage('$0 [prompt]\n\nA coding agent in the terminal, and a team of them: roocode team "goal"')
    .options({
      model: { type: "string", describe: "Model, as [provider/]id or sonnet, opus, haiku", global: true },
      "fallback-model": { type: "string", describe: "Model that stands in when the first does not answer", global: true },
      "permission-mode": { choices: PERMISSION_MODES, describe: "What needs asking", global: true },
      "add-dir": { type: "string", array: true, describe: "Another folder that file tools may use", global: true },
      trust: { type: "boolean", describe: "Accept what this folder brings: servers, allow rules and the like", global: true },
      debug: { type: "boolean", describe: "Show a stack on errors", global: true },
      "max-cost": { type: "number", describe: "US dollars that it may cost, a team's agents together", global: true, coerce: dollars },
    })
    // A command's own options stand first: this group is there before the next.
    .group("help", "Options:")
    .group(["model", "fallback-model", "permission-mode", "add-dir", "trust", "debug", "max-cost"], "For every command:")
    .example("roocode", "Talk to the agent in this folder")
    .example('roocode -p "what does this project do?"', "One answer, for scripts")
    .example("roocode -c", "Go on with the latest session of this project")
    .example('roocode team "add a search page" --check "npm test"', "A team, and the check that its merge must pass")
    .example("roocode demo", "See a team work, without a key or a network")
    .command(
      "$0 [prompt..]",
      "Talk to the agent in this folder; with -p print the answer and exit",
      (builder) =>
        builder
          .positional("prompt", { type: "string", array: true })
          .option("print", { alias: "p", type: "boolean", describe: "Run to completion without a question, answer on stdout" })
          .option("output-format", { choices: OUTPUT_FORMATS, default: "text" as const, describe: "What -p prints" })
          .option("input-format", {
            choices: ["text", "stream-json"] as const,
            describe: "What -p reads: a prompt, or messages as JSON lines",
          })
          .option("include-partial-messages", { type: "boolean", describe: "With stream-json: answers while they are written, too" })
          .option("permission-prompt-tool", {
            choices: ["stdio"] as const,
            describe: "With stream-json both ways: the program in front answers permission questions",
          })
          .option("max-turns", { type: "number", default: 50, describe: "Model calls in a run", coerce: wholeTurns })
          .option("continue", { alias: "c", type: "boolean", describe: "Go on with the latest session of this project" })
          .option("resume", { type: "string", describe: "Go on with the session of this id, or of its beginning; without one, choose" })
          .option("fork-session", { type: "boolean", describe: "With --resume or -c: go on with a copy of the session" })
          .option("mcp-config", MCP_CONFIG)
          .option("coordinator", { type: "boolean", describe: "Coordinator Mode: no tools for code, sub-agents do the work" })
          .option("verbose", { type: "boolean", hidden: true })
          .option("allowedTools", { ...RULES_FLAG, describe: "Needs no asking in this run: Read,Bash(git status:*)" })
          .option("disallowedTools", { ...RULES_FLAG, describe: "Is denied in this run" })
          // Of other products' settings files, which are not read here anyway.
          .option("setting-sources", { type: "string", hidden: true }),
      (args) => {
        const prompt = [...(args.prompt ?? []), ...behind].join(" ");
        return run(
          startTalk({
            ...globalFlags(args),
            print: args.print === true,
            prompt: prompt === "" ? undefined : prompt,
            outputFormat: args.outputFormat,
            ...(args.inputFormat === "stream-json" ? { isStreamInput: true } : {}),
            ...(args.includePartialMessages ? { includePartial: true } : {}),
            ...(args.allowedTools ? { allowedTools: args.allowedTools } : {}),
            ...(args.disallowedTools ? { disallowedTools: args.disallowedTools } : {}),
            ...(args.permissionPromptTool ? { asksOverStream: true } : {}),
            maxTurns: args.maxTurns,
            resume: args.resume ?? (args.continue ? "latest" : undefined),
            fork: args.forkSession,
            mcpConfig: args.mcpConfig,
            ...(args.coordinator ? { isCoordinator: true } : {}),
          }),
        );
      },
    )
    .command("team", 'A team of agents: roocode team "goal", or one of its commands', (builder) => teamCommands(builder, run, behind))
    .command(
      "worker",
      "Be a teammate in this terminal",
      (builder) =>
        builder.option("team", { type: "string", demandOption: true, describe: "Name of the team" }).option("name", {
          type: "string",
          demandOption: true,
          describe: "A new name joins; that of a dead or stopped member takes over its work",
        }),
      (args) => run(import("./worker.ts").then(({ workerCommand }) => workerCommand(args))),
    )
    .command(
      "acp",
      "Be the agent of an editor: Agent Client Protocol on standard input and output",
      (builder) =>
        builder
          .option("max-turns", { type: "number", default: 50, describe: "Model calls in a run", coerce: wholeTurns })
          .option("mcp-config", MCP_CONFIG),
      (args) =>
        run(
          import("./acp.ts").then(({ acpCommand }) =>
            acpCommand({ ...globalFlags(args), maxTurns: args.maxTurns, mcpConfig: args.mcpConfig }),
          ),
        ),
    )
    .command(
      "demo",
      "A whole team on a sample repository with scripted answers: no key, no network, no AI",
      (builder) =>
        builder.option("dir", { type: "string", describe: "Make the sample repository here and keep it" }).option("backend", {
          choices: ["auto", "tmux", "process", "in-process"] as const,
          default: "auto" as const,
          describe: "Where teammates run",
        }),
      (args) => run(import("./demo.ts").then(({ demoInTerminal }) => demoInTerminal(args))),
    )
    .command("permissions", "What would be allowed, asked or denied, and why", (builder) =>
      builder
        .command(
          "check [command..]",
          "Decide a command line, one call (--tool, --input), or calls as JSON lines on stdin; runs nothing",
          (check) =>
            check
              .positional("command", { type: "string", array: true, describe: "A command line for Bash" })
              .option("tool", { type: "string" })
              .option("input", { type: "string", describe: "The call's input as JSON" }),
          (args) =>
            run(
              import("./permissions.ts").then(({ checkCommand }) =>
                checkCommand({ ...args, ...globalFlags(args), command: args.command?.join(" ") }),
              ),
            ),
        )
        .command("log", "Past decisions", logOptions, (args) =>
          run(import("./permissions-log.ts").then(({ logCommand }) => logCommand({ ...args, ...globalFlags(args) }))),
        )
        .command(
          "explain <id>",
          "Why a past decision fell as it did, and what rule would change it",
          (explain) =>
            ofTeam(explain).positional("id", { type: "string", demandOption: true, describe: 'Id of a line of the log, or "last"' }),
          (args) => run(import("./permissions-log.ts").then(({ explainCommand }) => explainCommand({ ...args, ...globalFlags(args) }))),
        )
        .command("verify", "Whether the log is whole: no line changed or taken out", ofTeam, (args) =>
          run(import("./permissions-log.ts").then(({ verifyCommand }) => verifyCommand({ ...args, ...globalFlags(args) }))),
        )
        .demandCommand(1, ONE_COMMAND),
    )
    .command("config", "What is in force here and where each setting comes from", configOptions, (args) =>
      run(import("./config.ts").then(({ configCommand }) => configCommand({ ...args, ...globalFlags(args) }))),
    )
    .command("doctor", "Check this machine, the settings and the model's server; says how to mend each fault", doctorOptions, (args) =>
      run(import("./doctor.ts").then(({ doctorCommand }) => doctorCommand({ ...args, ...globalFlags(args) }))),
    )
    .command("mcp", "MCP servers: list, test, add, remove", (builder) => mcpCommands(builder, run, behind))
    .command("skills", "Skills: list them, check their files", (builder) => skillsCommands(builder, run))
    .command("commands", "Prompts that are typed as slash commands, from files", (builder) => commandFilesCommands(builder, run))
    .command("agents", "Kinds of sub-agents: list what each file of them says", (builder) =>
      builder
        .command(
          "list",
          "Every definition, and what became of it",
          (list) => list.option("json", JSON_FLAG).option("dir", { type: "string", describe: "Look in this folder instead" }),
          (args) => run(import("./agents.ts").then(({ agentsCommand }) => agentsCommand({ ...args, ...globalFlags(args) }))),
        )
        .demandCommand(1, ONE_COMMAND),
    )
    .command("hooks", "Hooks: list what is configured, try an event", (builder) => hooksCommands(builder, run))
    .command("import", "Take over what another program was configured with", (builder) => importCommands(builder, run))
    .command("sessions", "Conversations of this project: list, show, name, copy, export, search, remove", (builder) =>
      sessionsCommands(builder, run),
    )
    .command("memory", "Notes of earlier sessions: list, show, forget", (builder) => memoryCommands(builder, run))
    .command(
      "completion [shell]",
      "Shell completion for bash, zsh or fish: prints the script",
      (builder) => builder.positional("shell", { choices: SHELLS }),
      ({ shell }) =>
        run(
          import("./completion.ts").then(({ completionScript }) => {
            process.stdout.write(completionScript(shell, process.env));
            return 0;
          }),
        ),
    )
    .completion("get-completions", false, (_current: string, _given: unknown, own: OwnCompletion, done: (words: string[]) => void) => {
      // After the flag stands our own name; the last word is being typed.
      knownNames(argv.slice(2))
        .then((names) => {
          if (names) done(names);
          else own((_error, words) => done((words ?? []).filter((word) => !word.startsWith("$0"))));
        })
        // A shell that completes shows no errors.
        .catch(() => done([]));
    })
    .command("debug", false, (builder) =>
      builder
        .command(
          "stream",
          "Provider bytes on stdin to normalised events as JSON lines",
          (stream) => stream.option("protocol", { choices: ["anthropic", "openai", "openai-responses"] as const, demandOption: true }),
          ({ protocol }) =>
            run(
              import("./debug-stream.ts").then(async ({ debugStream }) => {
                await debugStream(protocol, process.stdin, (line) => process.stdout.write(`${line}\n`));
                return 0;
              }),
            ),
        )
        .demandCommand(1, ONE_COMMAND),
    )
    .version(version)
    .help()
    .strict()
    .exitProcess(false)
    .fail((message, error) => {
      // With a message it is the command line that is wrong; without one, what a command threw.
      if (!message && error) throw error;
      throw new UserError(`${message.replaceAll(/\s*\n\s*/g, " ")} See: ${helpFor(argv[0])}`);
    })
    // yargs answers, and would go on and run the command that is being typed. Without an end the process is over when the answer is out.
    .middleware(() => (isCompleting ? new Promise<void>(() => undefined) : undefined), true)
    .parseAsync();
  return exitCode;
}

const COMMANDS =
  "team worker acp demo permissions config doctor mcp skills commands agents hooks import sessions memory completion debug".split(" ");

/** The help that has what was looked for: a command's own, which lists its commands too. */
function helpFor(first = ""): string {
  return COMMANDS.includes(first) ? `roocode ${first} --help` : "roocode --help";
}

function dollars(value: unknown): number | undefined {
  if (value === undefined || (typeof value === "number" && Number.isFinite(value) && value > 0)) return value;
  throw new UserError("--max-cost is an amount in US dollars above 0, for example 5 or 0.50.");
}

function wholeTurns(value: unknown): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= 1) return value;
  throw new UserError("--max-turns is a whole number of at least 1.");
}

/** One list each time it is given, so that the prompt behind it stays a prompt. */
const RULES_FLAG = { type: "string", array: true, nargs: 1 } as const;
const JSON_FLAG = { type: "boolean", default: false, describe: "Print JSON" } as const;

function configOptions<Options>(builder: Argv<Options>) {
  return builder
    .option("json", JSON_FLAG)
    .option("check", { type: "boolean", default: false, describe: "Print only what is wrong; exit 2 if anything is" });
}

function doctorOptions<Options>(builder: Argv<Options>) {
  return builder
    .option("json", JSON_FLAG)
    .option("offline", { type: "boolean", default: false, describe: "Make no request to the model's server" });
}

function ofTeam<Args>(cli: Argv<Args>) {
  return cli.option("team", { type: "string", describe: "The log of this team" });
}

function logOptions(cli: Argv) {
  return ofTeam(cli)
    .option("session", { type: "string", describe: "Of this session only: its id or the beginning of it" })
    .option("tool", { type: "string", describe: "Of this tool only" })
    .option("agent", { type: "string", describe: "Of this agent only" })
    .option("denied", { type: "boolean", describe: "Only what was denied" })
    .option("n", { type: "number", describe: "How many, counted from the last; 20 unless given" })
    .option("json", { type: "boolean", describe: "The lines as they stand in the log" });
}
