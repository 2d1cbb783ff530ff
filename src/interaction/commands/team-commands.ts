import type { Argv } from "yargs";
import { UserError } from "../../protocol/errors.ts";
import { BACKEND_KINDS, PLAN_APPROVERS } from "../../protocol/team.ts";
import { readSurroundings } from "../../runtime/surroundings.ts";
import { distance } from "../distance.ts";
import { globalFlags } from "../global-flags.ts";
import { writeOut } from "../lost-output.ts";
import { OUTPUT_FORMATS } from "../print.ts";
import { surroundingsHere } from "../surroundings-here.ts";

const MAX_TEAMMATES = 16;

const TEAMMATES = { type: "number", describe: `How many teammates may run at once: 1 to ${MAX_TEAMMATES}, 4 unless given` } as const;
const LAYOUT = {
  choices: ["auto", "split", "window"],
  default: "auto",
  describe: "tmux: split the lead's window, or windows of their own",
} as const;
const COORDINATOR = { type: "boolean", default: true, describe: "--no-coordinator leaves the lead its code tools" } as const;
const PLAN = { choices: PLAN_APPROVERS, describe: "Teammates plan first; the lead approves, or you with --plan=me" } as const;
const PRINT = { alias: "p", type: "boolean", default: false, describe: "Never ask; result on stdout, the rest on stderr" } as const;
const OUTPUT_FORMAT = { choices: OUTPUT_FORMATS, default: "text", describe: "What -p prints" } as const;
/** Given twice, the last one counts. */
const HTML = {
  type: "string",
  coerce: (file: string | string[]) => [file].flat().at(-1),
  describe: "Write it as one page to this file",
} as const;

type Run = (command: Promise<number>) => Promise<void>;

/** `roocode team …`; each command loads what it needs when it runs. */
export function teamCommands(cli: Argv, run: Run, behind: readonly string[]): Argv {
  return cli
    .example('roocode team "add a search page" --check "npm test"', "A team, and the check that its merge must pass")
    .example("roocode team status add-search", "Where it is")
    .example("roocode team resume add-search", "Go on after an interruption")
    .command(
      "$0 [goal..]",
      "Create a team and run it to convergence",
      (builder) =>
        builder
          .positional("goal", { type: "string", array: true, describe: "What is to be done" })
          .option("name", { type: "string", describe: "Name of the team; made from the goal unless given" })
          .option("teammates", TEAMMATES)
          .option("backend", { choices: ["auto", ...BACKEND_KINDS] as const, default: "auto" as const, describe: "Where teammates run" })
          .option("check", { type: "string", describe: 'Command that the merged result must pass, for example "npm test"' })
          .option("layout", LAYOUT)
          .option("merge", { type: "boolean", default: true, describe: "--no-merge leaves the branches" })
          .option("plan", PLAN)
          .option("coordinator", COORDINATOR)
          .option("bus", { type: "string", describe: "Share the team's state over a NATS server, nats://HOST:4222, instead of files" })
          .option("bus-credentials", { type: "string", describe: "File with the nkey seed, or .creds file, for the server" })
          .option("bus-ca", { type: "string", describe: "PEM file of the server's certificate authority" })
          .option("bus-cert", { type: "string", describe: "PEM file of our certificate for the server" })
          .option("bus-key", { type: "string", describe: "PEM file of that certificate's key" })
          .option("print", PRINT)
          .option("output-format", OUTPUT_FORMAT),
      (args) => {
        const goal = [...(args.goal ?? []), ...behind].join(" ");
        if (behind.length === 0) refuseMistyped(args.goal ?? []);
        return run(
          import("./team.ts").then(({ teamCommand }) =>
            teamCommand({ ...args, ...globalFlags(args), teammates: teammateCount(args.teammates), goal }),
          ),
        );
      },
    )
    .command("list", "Teams that run or were kept", json, ({ json: asJson }) =>
      run(import("./team-look.ts").then(async ({ listTeams }) => listTeams((await surroundingsHere()).data, asJson, writeOut))),
    )
    .command("status <team>", "Members and tasks of a team, now", named, (args) =>
      run(
        import("./team-look.ts").then(async ({ showStatus }) =>
          showStatus((await surroundingsHere()).data, args.team, args.json, writeOut),
        ),
      ),
    )
    .command(
      "log <team>",
      "What happened in a team",
      (builder) =>
        named(builder).option("follow", {
          alias: "f",
          type: "boolean",
          default: false,
          describe: "Go on as more happens, until the team ends",
        }),
      (args) =>
        run(import("./team-look.ts").then(async ({ showLog }) => showLog((await surroundingsHere()).data, args.team, args, writeOut))),
    )
    .command(
      "report <team>",
      "What a team did: commits, files, tasks, merges, cost",
      (builder) => named(builder).option("html", HTML),
      (args) =>
        run(
          import("./team-look.ts").then(async ({ showReport }) => showReport((await surroundingsHere()).data, args.team, args, writeOut)),
        ),
    )
    .command(
      "watch <team>",
      "A team as it works, until it ends: its status, or a page in the browser",
      (builder) =>
        named(builder)
          .option("web", { type: "boolean", default: false, describe: "Serve a live page on this machine alone" })
          .option("port", { type: "number", describe: "Port of the page; a free one unless given" }),
      (args) =>
        run(import("./team-watch.ts").then(async ({ watchTeam }) => watchTeam((await surroundingsHere()).data, args.team, args, writeOut))),
    )
    .command(
      "doctor [team]",
      "What is wrong with teams on this machine; --fix mends what can be mended without a loss",
      (builder) =>
        json(builder)
          .positional("team", { type: "string", describe: "Name of a team; all unless given" })
          .option("fix", { type: "boolean", default: false, describe: "Mend it" }),
      (args) =>
        run(import("./team-act.ts").then(async ({ teamDoctor }) => teamDoctor(await surroundingsHere(), args.team, args, writeOut))),
    )
    .command("attach <team>", "Go to the panes of a team, or follow its log", teamName, (args) =>
      run(import("./team-attach.ts").then(async ({ attachTeam }) => attachTeam(await surroundingsHere(), args.team, writeOut))),
    )
    .command(
      "send <team> <member> [text..]",
      "Write to a teammate",
      (builder) =>
        named(builder)
          .positional("member", { type: "string", demandOption: true, describe: "Name of the teammate" })
          .positional("text", { type: "string", array: true, describe: "What it reads, as the lead's words" })
          .option("interrupt", { type: "boolean", default: false, describe: "End its turn; the text is what it reads next" }),
      (args) =>
        run(
          import("./team-act.ts").then(async ({ sendToMember }) =>
            sendToMember(await surroundingsHere(), args.team, args.member, [...(args.text ?? []), ...behind].join(" "), args, writeOut),
          ),
        ),
    )
    .command("stop <team>", "Ask a team to stop; its work is saved", named, (args) =>
      run(import("./team-act.ts").then(async ({ stopTeam }) => stopTeam(await surroundingsHere(), args.team, args.json, writeOut))),
    )
    .command(
      "resume <team>",
      "Go on with a team whose lead is gone",
      (builder) =>
        teamName(builder)
          .option("teammates", TEAMMATES)
          .option("layout", LAYOUT)
          .option("coordinator", COORDINATOR)
          .option("print", PRINT)
          .option("output-format", OUTPUT_FORMAT),
      (args) =>
        run(
          Promise.all([import("./team.ts"), import("../../runtime/team-resume.ts")]).then(async ([{ lead }, { resumeTeam }]) => {
            const teammates = teammateCount(args.teammates);
            const resumed = await resumeTeam(await readSurroundings(process.cwd(), process.env, globalFlags(args)), args.team);
            return lead(resumed.surroundings, resumed, { ...args, teammates }, resumed.note);
          }),
        ),
    )
    .command(
      "clean <team>",
      "Remove what is proven merged; keep and name the rest",
      (builder) =>
        named(builder).option("force", {
          type: "boolean",
          default: false,
          describe: "Remove unmerged work too; a rescue ref keeps it for 30 days",
        }),
      (args) =>
        run(import("./team-act.ts").then(async ({ cleanCommand }) => cleanCommand(await surroundingsHere(), args.team, args, writeOut))),
    );
}

const COMMANDS = ["list", "status", "log", "report", "watch", "doctor", "attach", "send", "stop", "resume", "clean"];

/** A slip in a command's name would start a team that works on it. A goal that was quoted has blanks in its first word. */
function refuseMistyped(words: readonly string[]): void {
  const [first = ""] = words;
  if (words.length > 3 || /\s/.test(first)) return;
  const meant = COMMANDS.find((name) => distance(first.toLowerCase(), name) <= (first.length > 4 ? 2 : 1));
  if (meant === undefined) return;
  throw new UserError(`Did you mean "roocode team ${meant}"? For a team with this goal: roocode team -- ${words.join(" ")}`);
}

function teammateCount(count: number | undefined): number | undefined {
  if (count === undefined || (Number.isInteger(count) && count >= 1 && count <= MAX_TEAMMATES)) return count;
  throw new UserError(`--teammates is a whole number from 1 to ${MAX_TEAMMATES}: how many may run at once.`);
}

function json<Options>(builder: Argv<Options>) {
  return builder.option("json", { type: "boolean", default: false, describe: "Print JSON" });
}

function named<Options>(builder: Argv<Options>) {
  return json(teamName(builder));
}

function teamName<Options>(builder: Argv<Options>) {
  return builder.positional("team", { type: "string", demandOption: true, describe: "Name of the team" });
}
