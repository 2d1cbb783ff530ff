import type { HookEventName } from "../../protocol/hook.ts";

type EventTraits = {
  /** Claude Code's name, where it has the event. */
  claude?: string;
  /** What a hook that refuses does; absent where it can't. */
  blocking?: string;
  /** Plain words on standard output are for the model; elsewhere only a JSON answer is. */
  takesText?: true;
};

/** Every event; `hooks list` and the documentation follow this order. */
export const EVENTS: Readonly<Record<HookEventName, EventTraits>> = {
  session_start: { claude: "SessionStart", takesText: true },
  session_end: { claude: "SessionEnd" },
  user_prompt_submit: { claude: "UserPromptSubmit", blocking: "the prompt is not sent", takesText: true },
  pre_tool_use: { claude: "PreToolUse", blocking: "the call is denied" },
  post_tool_use: { claude: "PostToolUse", blocking: "the model reads the reason" },
  post_tool_failure: { claude: "PostToolUseFailure", blocking: "the model reads the reason" },
  permission_request: { claude: "PermissionRequest", blocking: "the answer is no" },
  notification: { claude: "Notification" },
  pre_compact: { claude: "PreCompact", takesText: true },
  post_compact: { claude: "PostCompact", takesText: true },
  stop: { claude: "Stop", blocking: "the agent goes on with the reason" },
  subagent_start: { claude: "SubagentStart", takesText: true },
  subagent_stop: { claude: "SubagentStop", blocking: "the sub-agent goes on with the reason" },
  task_created: { claude: "TaskCreated" },
  task_completed: { claude: "TaskCompleted", blocking: "the task is not completed" },
  teammate_spawned: {},
  teammate_idle: { claude: "TeammateIdle", blocking: "the teammate goes on with the reason" },
  teammate_stopped: {},
  message_received: { takesText: true },
  worktree_created: { claude: "WorktreeCreate" },
  pre_merge: { blocking: "the merge is taken back" },
  post_merge: {},
  team_converged: {},
};

// The keys of a record that a type checks for completeness.
export const EVENT_NAMES = Object.keys(EVENTS) as readonly HookEventName[];

const BY_PLAIN_NAME = new Map(
  EVENT_NAMES.flatMap((name): [string, HookEventName][] => {
    const { claude } = EVENTS[name];
    return [[plain(name), name], ...(claude === undefined ? [] : [[plain(claude), name] as [string, HookEventName]])];
  }),
);

/** `pre_tool_use`, `preToolUse`, `PreToolUse`: all one. */
export function eventNamed(name: string): HookEventName | undefined {
  return BY_PLAIN_NAME.get(plain(name));
}

function plain(name: string): string {
  return name.replaceAll(/[_-]/g, "").toLowerCase();
}
