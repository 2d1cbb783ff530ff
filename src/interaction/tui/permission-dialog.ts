import type { HumanAnswer, PermissionDecision, PermissionRequest } from "../../protocol/permission.ts";
import { visible } from "../visible.ts";
import { wrap } from "./clip.ts";
import { type Choice, Dialog } from "./dialog.ts";
import { diffBody, diffLines } from "./diff.ts";
import type { Theme } from "./theme.ts";

type Asked = { request: PermissionRequest; decision: PermissionDecision; alwaysRule: string | undefined };

/** What would run, the parts that were read from it, why it is asked, and what each answer means. */
export function permissionDialog({ request, decision, alwaysRule }: Asked, theme: Theme, rows: () => number): Dialog<HumanAnswer> {
  const choices: Choice<HumanAnswer>[] = [
    { key: "y", label: "Yes", value: "yes" },
    ...(alwaysRule === undefined ? [] : [{ key: "a", label: `Always: allow ${visible(alwaysRule)}`, value: "always" as const }]),
    { key: "n", label: "No", value: "no" },
  ];
  return new Dialog<HumanAnswer>(
    {
      title: `${request.agent} asks: ${request.tool}`,
      body: (width) => [
        ...wrap(visible(request.access.subject), width, "  "),
        ...partLines(request.access.subject, decision.parts ?? [], width, theme),
        ...wrap(visible(decision.reason), width, "  ").map(theme.dim),
        ...(decision.detail ? detailLines(visible(decision.detail), width, theme) : []),
      ],
      choices,
    },
    theme,
    rows,
  );
}

/** A command of one part is the command. */
function partLines(subject: string, parts: readonly string[], width: number, theme: Theme): string[] {
  if (parts.length === 0 || (parts.length === 1 && parts[0] === subject)) return [];
  return parts.flatMap((part) => wrap(visible(part), width, "    · ").map(theme.dim));
}

function detailLines(detail: string, width: number, theme: Theme): string[] {
  const isDiff = /^@@ /m.test(detail);
  return isDiff ? diffLines(diffBody(detail).join("\n"), width, theme) : wrap(detail, width, "    ").map(theme.dim);
}
