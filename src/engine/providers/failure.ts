import type { ModelErrorKind } from "../../protocol/model.ts";
import { isRecord } from "../../protocol/record.ts";
import { overflowOf } from "./overflow.ts";
import { at, parseJson, textAt } from "./wire.ts";

export type ModelFailure = { kind: ModelErrorKind; retryable: boolean; text: string; retryAfterMs?: number; limitTokens?: number };

const RETRYABLE: ReadonlySet<ModelErrorKind> = new Set(["rate_limit", "overloaded", "server", "network", "truncated", "stalled", "parse"]);

export function failure(kind: ModelErrorKind, text: string): ModelFailure {
  return { kind, retryable: RETRYABLE.has(kind), text };
}

const QUOTA = /insufficient_quota|billing_|credit balance|spend(ing)?[ _]limit|exceeded your current quota|payment required/i;
const AUTH = /authentication_error|permission_error|invalid_api_key|incorrect api key|invalid x-api-key|unauthorized/i;
const INVALID = /invalid_|not_found|unsupported|bad_request/i;

/** What the server said of itself. `status` is the HTTP status, or undefined inside a stream that began with 200. */
export function serverFailure(error: unknown, status?: number): ModelFailure {
  const message = textAt(error, "message") || (typeof error === "string" ? error : "");
  const code = at(error, "code");
  const words = [textAt(error, "type"), String(code ?? ""), textAt(error, "details", "error_code"), message].join(" ");
  const told = status ?? (Number(code) >= 400 && Number(code) < 600 ? Number(code) : undefined);
  const text = oneLine(message || textAt(error, "type") || (isRecord(error) ? JSON.stringify(error) : "no reason given"));
  const said = status === undefined ? text : `${status}: ${text}`;
  const overflow = overflowOf(words, told, error);
  return overflow ? { ...failure("context_length", said), ...overflow } : failure(failureKind(words, told), said);
}

function failureKind(words: string, status: number | undefined): ModelErrorKind {
  if (QUOTA.test(words) || status === 402) return "quota";
  if (AUTH.test(words) || status === 401 || status === 403) return "auth";
  if (/rate_limit/i.test(words) || status === 429) return "rate_limit";
  if (/overloaded/i.test(words) || status === 529) return "overloaded";
  if (status === 408 || status === 409 || (status !== undefined && status >= 500)) return "server";
  if (status !== undefined || INVALID.test(words)) return "invalid_request";
  return "server";
}

/** A body with status 200 that is no event stream: an error as plain JSON, or the page of a proxy. */
export function strayFailure(body: string): ModelFailure {
  const error = at(parseJson(body), "error");
  if (error !== undefined && error !== null) return serverFailure(error);
  return failure("parse", `The server answered with something that is no event stream: ${oneLine(body)}`);
}

/** Parts are loaded when they are first used; an update or a new build takes the old ones away. */
const PROGRAM_CHANGED = "A part of RooCode is gone: it was updated or built anew while this ran. Start it again.";

/** What the SDK threw before the first byte: a status it did not like, or a connection that did not come about. */
export function requestFailure(error: unknown, baseUrl: string): ModelFailure {
  const status = at(error, "status");
  if (at(error, "code") === "ERR_MODULE_NOT_FOUND") return failure("invalid_request", PROGRAM_CHANGED);
  if (typeof status !== "number") return networkFailure(error, baseUrl);
  // Anthropic's SDK keeps the whole body, OpenAI's only what stands under "error"; a body that is no JSON is in the message.
  const body = at(error, "error", "error") ?? at(error, "error") ?? textAt(error, "message").replace(/^\d{3} /, "");
  const location = header(error, "location");
  if (status < 400)
    return failure("invalid_request", `${status}: ${baseUrl} redirects${location ? ` to ${location}` : ""}. Set baseUrl to the new place.`);
  const failed = serverFailure(body, status);
  const retryAfterMs = retryAfter(error);
  if (retryAfterMs === undefined) return failed;
  // Some say "quota" of a limit a minute; whoever names a time means that it passes.
  const passes = failed.retryable || (failed.kind === "quota" && status === 429);
  return passes ? { ...failed, kind: failed.retryable ? failed.kind : "rate_limit", retryable: true, retryAfterMs } : failed;
}

function retryAfter(error: unknown): number | undefined {
  const milliseconds = Number.parseFloat(header(error, "retry-after-ms"));
  if (milliseconds >= 0) return milliseconds;
  const value = header(error, "retry-after");
  const seconds = Number(value);
  if (value !== "" && seconds >= 0) return seconds * 1000;
  const untilMs = Date.parse(value) - Date.now();
  return Number.isNaN(untilMs) ? undefined : Math.max(0, untilMs);
}

function header(error: unknown, name: string): string {
  const headers = at(error, "headers");
  const get = at(headers, "get");
  const value: unknown = typeof get === "function" ? get.call(headers, name) : undefined;
  return typeof value === "string" ? value : "";
}

const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY/;
const OWN_MISTAKE = /^ERR_(INVALID|UNESCAPED|HTTP_INVALID)/;

/** The reason lies as deep in the `cause` chain as the libraries are many. */
export function networkFailure(error: unknown, baseUrl: string): ModelFailure {
  const { code, message } = deepestReason(error);
  const where = hostOf(baseUrl);
  if (code === "ECONNREFUSED" && isLoopback(baseUrl)) {
    return { kind: "network", retryable: false, text: `Nothing answers at ${where} (connection refused). Is the server running there?` };
  }
  const retryable = code !== "" && !CERTIFICATE.test(code) && !OWN_MISTAKE.test(code);
  return {
    kind: "network",
    retryable,
    text: `Could not reach ${where}: ${oneLine(code && !message.includes(code) ? `${message} (${code})` : message)}`,
  };
}

function deepestReason(error: unknown): { code: string; message: string } {
  const reason = { code: "", message: textAt(error, "message") || String(error) };
  for (let current = error, depth = 0; isRecord(current) && depth < 8; depth++) {
    // Several addresses that all failed come as one AggregateError without a message.
    const code = textAt(current, "code") || textAt(current, "errors", 0, "code");
    if (code) reason.code = code;
    reason.message = textAt(current, "message") || textAt(current, "errors", 0, "message") || reason.message;
    current = current.cause;
  }
  return reason;
}

function hostOf(baseUrl: string): string {
  return URL.canParse(baseUrl) ? new URL(baseUrl).host : baseUrl;
}

export function isLoopback(baseUrl: string): boolean {
  if (!URL.canParse(baseUrl)) return false;
  const { hostname } = new URL(baseUrl);
  return hostname === "localhost" || hostname.endsWith(".localhost") || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > 300 ? `${line.slice(0, 300)}…` : line;
}
