import type { Line, Part } from "./command-line.ts";
import { codeDetector } from "./danger/code.ts";
import { devices } from "./danger/devices.ts";
import type { Detector, Finding, Scene } from "./danger/finding.ts";
import { gitHarm } from "./danger/git-harm.ts";
import { power } from "./danger/power.ts";
import { privilege } from "./danger/privilege.ts";
import { downloadPaths, remoteCode } from "./danger/remote.ts";
import { removals } from "./danger/removal.ts";
import { secretsOut } from "./danger/secrets-out.ts";
import { teamReach } from "./danger/team-reach.ts";
import { touchedPaths } from "./danger/touched-paths.ts";
import type { Ground } from "./path-sandbox.ts";
import { analyze } from "./shell.ts";

const NESTED_TEXTS = 3;
const MOST_WRITERS = 100;

/** Layer 1, and layer 2 for commands: everything that holds in every mode. */
export function dangers(line: Line, ground: Ground, mode: string): Finding[] {
  return inspectLine(line, ground, mode, 0);
}

function inspectLine(line: Line, ground: Ground, mode: string, depth: number): Finding[] {
  const scene: Scene = { line, ground, mode, writers: writersOf(line, ground) };
  const code = codeDetector((text, part) => (depth < NESTED_TEXTS ? inspectText(text, part, ground, mode, depth) : []));
  const detectors: readonly Detector[] = [
    removals,
    devices,
    power,
    remoteCode,
    secretsOut,
    gitHarm,
    privilege,
    touchedPaths,
    teamReach,
    code,
  ];
  const findings = line.parts.flatMap((part) => detectors.flatMap((detect) => [...detect(part, scene)]));
  const general: Finding[] = line.isOverLimit
    ? [{ decision: "ask", isSticky: true, layer: "danger", reason: "the command is too long to be checked as a whole" }]
    : [];
  general.push(...line.problems.map((reason): Finding => ({ decision: "ask", isSticky: false, layer: "danger", reason })));
  return [...findings, ...general];
}

/** Looked up on demand: most lines write no file that another part reads. */
function writersOf(line: Line, ground: Ground): (path: string) => readonly Part[] {
  let writers: Map<string, Part[]> | undefined;
  return (path) => {
    if (!writers) {
      writers = new Map();
      for (const part of line.parts)
        for (const file of downloadPaths(part, ground)) writers.set(file, [...(writers.get(file) ?? []), part].slice(0, MOST_WRITERS));
    }
    return writers.get(path) ?? [];
  };
}

function inspectText(text: string, part: Part, ground: Ground, mode: string, depth: number): Finding[] {
  return inspectLine(analyze(text, { cwd: part.cwds[0] ?? ground.cwd, home: ground.home }), ground, mode, depth + 1).filter(
    (finding) => finding.isSticky || finding.decision === "deny",
  );
}
