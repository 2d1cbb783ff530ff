import type { PermissionRequest } from "../protocol/permission.ts";
import { PERMISSION_MODES } from "../protocol/permission.ts";
import type { LoggedDecision } from "../safety/audit-log.ts";
import { CONTAINED } from "../safety/authorize.ts";
import { decisionWord } from "../safety/decision-word.ts";
import { explain } from "../safety/explain.ts";
import { gitConfigReader } from "../safety/git-config.ts";
import { DISK } from "../safety/path-sandbox.ts";
import { memoryFolders } from "./memory-folders.ts";
import { projectRules } from "./permissions.ts";
import type { Surroundings } from "./surroundings.ts";

/** A past decision as it was made, and how the same call would be judged with the rules of now. */
export async function explainDecision(entry: LoggedDecision, surroundings: Surroundings): Promise<string> {
  const request = requestOf(entry);
  const rule = entry.rule === undefined ? [] : [["Rule", `${entry.rule}${entry.source === undefined ? "" : ` (${entry.source})`}`]];
  const asked = entry.asked === undefined ? [] : [["Asked by", `layer ${entry.asked.layer}: ${entry.asked.reason}`]];
  const lines = [
    ["Call", `${entry.tool}(${entry.subject})`],
    ["By", [entry.agent, entry.session && `session ${entry.session}`, entry.at].filter(Boolean).join(", ")],
    ["Where", [entry.cwd, entry.mode && `mode ${entry.mode}`].filter(Boolean).join(", ")],
    ["Decision", `${decisionWord(entry)}, layer ${entry.layer}: ${entry.reason}`],
    ...rule,
    ...asked,
    ...(request ? await nowLines(request, entry, surroundings) : []),
  ];
  return lines.map(([name = "", text = ""]) => `${`${name}:`.padEnd(13)}${text}`).join("\n");
}

async function nowLines(request: PermissionRequest, entry: LoggedDecision, surroundings: Surroundings): Promise<string[][]> {
  const { data, home, flags, settings } = surroundings;
  const { rules, isTrusted, addDirs } = await projectRules(surroundings);
  const root = entry.root ?? surroundings.root;
  const mode = PERMISSION_MODES.find((one) => one === entry.mode) ?? flags.permissionMode ?? settings.permissionMode ?? "default";
  const {
    decision,
    parts,
    rules: wouldAllow,
  } = await explain(request, {
    ground: {
      root,
      cwd: entry.cwd ?? root,
      home,
      dataFolder: data.root,
      extraRoots: addDirs,
      readRoots: memoryFolders(surroundings).map(({ path }) => path),
      files: DISK,
    },
    mode,
    rules: await rules(),
    isTrusted,
    gitIsSafe: gitConfigReader(),
  });
  const source = decision.source === undefined ? "" : ` (${decision.source})`;
  const where = entry.reason === CONTAINED ? " (without the OS sandbox; inside it is not asked)" : "";
  return [
    ["Now", `${decisionWord(decision)}, layer ${decision.layer}: ${decision.reason}${source}${where}`],
    ...parts.map(({ text, decision: own }) => ["  part", `${decisionWord(own).padEnd(10)} ${text} — ${own.reason}`]),
    ...(decision.decision !== "ask"
      ? []
      : wouldAllow.length === 0
        ? [["Rule for it", "none: only a person can allow this"]]
        : [["Rule for it", `${wouldAllow.join(", ")} in permissions.allow; "always" writes the same`]]),
  ];
}

/** A line of an earlier version, or a subject that was shortened or masked, can't be decided again. */
function requestOf(entry: LoggedDecision): PermissionRequest | undefined {
  const { tool, subject, kind, agent = "" } = entry;
  const isKind = kind === "read" || kind === "write" || kind === "command" || kind === "other";
  if (tool === undefined || subject === undefined || !isKind || / hidden\]|… \[\d+ characters\]$/.test(subject)) return undefined;
  const isFile = kind === "read" || kind === "write";
  return { agent, tool, access: { kind, subject, ...(isFile ? { paths: entry.paths ?? [subject] } : {}) } };
}
