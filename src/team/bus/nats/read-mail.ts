import type { JsMsg } from "@nats-io/jetstream";
import type { Envelope } from "../../../protocol/team.ts";
import { wrongRole } from "../../mail-roles.ts";
import { isNews } from "../message-parts.ts";
import { EnvelopeSchema } from "../schemas.ts";
import type { BusNames } from "./names.ts";

export type ReadMail = { envelope: Envelope } | { bad: string; from?: string };

/**
 * The sender is proven by the subject: the server lets each user publish on the subjects of its own name alone (`roocode bus init`
 * writes that). What the envelope says must be the same.
 */
export function readMail(message: Pick<JsMsg, "subject" | "string">, owner: string, names: BusNames): ReadMail {
  let value: unknown;
  try {
    value = JSON.parse(message.string());
  } catch {
    return { bad: "it is no JSON" };
  }
  const { data, error } = EnvelopeSchema.safeParse(value);
  if (!data) {
    const issue = error.issues[0];
    return { bad: `${issue?.path.join(".") || "envelope"}: ${issue?.message ?? "wrong type"}` };
  }
  if (message.subject !== names.mailSubject(owner, data.from, isNews(data.body)))
    return { bad: `it came over the subject ${message.subject}, which is not that of the sender or the kind that it names` };
  if (data.to !== owner) return { bad: `it is addressed to "${data.to}"`, from: data.from };
  const role = wrongRole(data, owner);
  return role === undefined ? { envelope: data } : { bad: role, from: data.from };
}
