import { join } from "node:path";
import type { PermissionMode } from "../protocol/permission.ts";
import { LEAD, type TeamBus, type TeammateInfo } from "../protocol/team.ts";
import type { LeadAnswers } from "../team/lead-answers.ts";
import { narrower } from "../team/mode-width.ts";
import { withMember } from "../team/worker.ts";
import type { PlanAnswer } from "../tools/builtin/exit-plan-mode.ts";
import { PlanMode } from "./plan-mode.ts";

type Parts = {
  bus: TeamBus;
  info: TeammateInfo;
  teamFolder: string;
  answers: LeadAnswers;
  /** What the member waits for, for its status; undefined when it goes on. */
  onWait: (what: string | undefined) => Promise<void>;
};

/** A member that must plan first: until its plan is approved it changes nothing but its plan file. The approval outlives its process. */
export class MemberPlan {
  readonly file: string;
  readonly #parts: Parts;
  readonly #planMode: PlanMode;
  /** Undefined while it plans. */
  #approved: PermissionMode | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.file = join(parts.teamFolder, "plans", `${parts.info.name}.md`);
    this.#planMode = new PlanMode({
      file: this.file,
      approver: LEAD,
      mode: () => this.#approved ?? "plan",
      setMode: (mode) => {
        this.#approved = mode;
      },
      approve: (plan, _file, signal) => this.#approve(plan, signal),
    });
  }

  get isPlanning(): boolean {
    return this.#approved === undefined;
  }

  mode(): PermissionMode {
    return this.#approved ?? "plan";
  }

  news(): string | undefined {
    return this.#planMode.next();
  }

  preserved(): string[] {
    return this.#planMode.now();
  }

  tool() {
    return this.#planMode.tool();
  }

  async #approve(plan: string, signal: AbortSignal): Promise<PlanAnswer | undefined> {
    const { bus, answers, onWait } = this.#parts;
    using request = await answers.open(() => bus.mailbox.send(LEAD, { type: "plan_approval_request", text: plan }));
    await onWait("the approval of its plan");
    try {
      const answer = await request.answer(signal);
      if (answer === undefined) return undefined;
      if (!answer.approve) return { feedback: answer.feedback ?? `${LEAD} did not say what to change.` };
      return { mode: await this.#record(), ...(answer.feedback ? { remark: answer.feedback } : {}) };
    } finally {
      await onWait(undefined);
    }
  }

  /** The mode that is stored for it, else the lead's of now; never a wider one. */
  async #record(): Promise<PermissionMode> {
    const { bus, info } = this.#parts;
    const leadMode = (await bus.roster.read()).lead?.permissionMode ?? "default";
    const mode = info.permissionMode === "plan" ? leadMode : narrower(info.permissionMode, leadMode);
    await bus.roster.update((team) => withMember(team, info.name, { planApproved: true, permissionMode: mode }));
    return mode;
  }
}
