import { stat } from "node:fs/promises";
import { teamLayout } from "../../team/bus/file/layout.ts";
import { readTeam } from "../../team/bus/team-bus.ts";
import { LogReader, logPath, parseLogLine } from "../../team/team-log.ts";
import { type BranchWork, branchWork, reportOf, type TeamReport } from "../team-report.ts";
import { teamStatus } from "../team-status.ts";
import { TeamChronicle } from "./chronicle.ts";
import { type Decisions, teamDecisions } from "./decisions.ts";

/** All that a page about a team shows. */
export type TeamPage = { report: TeamReport; chronicle: TeamChronicle; decisions: Decisions; at: Date };

/** Reads a team for a page, again and again: of its log only what is new, and git where a commit may have come. */
export class TeamPageReader {
  readonly #folder: string;
  readonly #log: LogReader;
  readonly #chronicle = new TeamChronicle();
  #decisions: { size: number; found: Decisions } | undefined;
  #branches: { key: string; found: Map<string, BranchWork> } | undefined;

  constructor(folder: string) {
    this.#folder = folder;
    this.#log = new LogReader(logPath(folder));
  }

  async read(): Promise<TeamPage> {
    for (const line of await this.#log.read()) {
      const event = parseLogLine(line);
      if (event) this.#chronicle.add(event);
    }
    const status = await teamStatus(this.#folder);
    const done = status.tasks.filter((task) => task.commit !== undefined).length;
    const key = [done, this.#chronicle.convergence.length, status.members.map(({ name }) => name)].join();
    if (this.#branches?.key !== key) {
      const { team } = await readTeam(this.#folder);
      this.#branches = { key, found: await branchWork(team.repoRoot, status, this.#chronicle) };
    }
    const report = reportOf(status, this.#chronicle, this.#branches.found);
    return { report, chronicle: this.#chronicle, decisions: await this.#readDecisions(), at: new Date() };
  }

  async #readDecisions(): Promise<Decisions> {
    const { audit } = teamLayout(this.#folder);
    const size = await stat(audit).then(
      (found) => found.size,
      // Not there yet: nothing was decided.
      () => 0,
    );
    if (this.#decisions?.size !== size) this.#decisions = { size, found: await teamDecisions(audit) };
    return this.#decisions.found;
  }
}
