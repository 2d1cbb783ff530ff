import { describe, expect, test } from "vitest";
import { networkFailure, requestFailure, serverFailure } from "../../../src/engine/providers/failure.ts";

function withCode(code: string, message: string, cause?: unknown): Error {
  return Object.assign(new Error(message, { cause }), { code });
}

describe("what a server says of itself", () => {
  test.each([
    [{ type: "invalid_request_error", message: "prompt is too long: 1 > 0" }, undefined, "context_length"],
    [{ code: "context_length_exceeded", message: "x" }, 400, "context_length"],
    [{ message: "the request exceeds the available context size, try increasing it" }, 400, "context_length"],
    [{ code: "insufficient_quota", message: "x" }, 429, "quota"],
    [{ type: "billing_error", message: "x" }, 400, "quota"],
    [{ message: "Your credit balance is too low" }, 400, "quota"],
    [{ type: "rate_limit_error", message: "x" }, undefined, "rate_limit"],
    [{ message: "Too many input tokens: the maximum context of a minute is used up" }, 429, "rate_limit"],
    [{ code: "rate_limit_exceeded", message: "Rate limit reached. Add a payment method at /account/billing." }, 429, "rate_limit"],
    [{ code: 429, message: "x" }, undefined, "rate_limit"],
    [{ code: "502", message: "x" }, undefined, "server"],
    [{ type: "overloaded_error", message: "x" }, undefined, "overloaded"],
    [{ type: "api_error", message: "x" }, undefined, "server"],
    [{ type: "api_error", message: "x" }, 500, "server"],
    [{ message: "conflict" }, 409, "server"],
    [{ message: "timeout" }, 408, "server"],
    [{ message: "x" }, 422, "invalid_request"],
    ["upstream connect error", undefined, "server"],
    [undefined, 401, "auth"],
  ] as const)("%j with status %s is %s", (error, status, kind) => {
    const retryable = ["rate_limit", "overloaded", "server"].includes(kind);
    expect(serverFailure(error, status)).toMatchObject({ kind, retryable });
  });
});

describe("what keeps a request from arriving", () => {
  test("is found at the end of the chain of causes", () => {
    const chain = new Error("Connection error.", {
      cause: new Error("fetch failed", { cause: withCode("ETIMEDOUT", "connect ETIMEDOUT 10.0.0.1:443") }),
    });
    expect(networkFailure(chain, "https://model.test/v1")).toEqual({
      kind: "network",
      retryable: true,
      text: "Could not reach model.test: connect ETIMEDOUT 10.0.0.1:443",
    });
  });

  test("is retryable when it may pass: resets, time-outs, names that cannot be looked up now", () => {
    for (const code of ["ECONNRESET", "EPIPE", "EAI_AGAIN", "ENOTFOUND", "UND_ERR_SOCKET", "ERR_SSL_BAD_RECORD"]) {
      expect([code, networkFailure(withCode(code, "x"), "https://model.test").retryable]).toEqual([code, true]);
    }
  });

  test("is not retryable when it will be the same next time: certificates, a header that cannot be sent, a bug", () => {
    for (const code of ["SELF_SIGNED_CERT_IN_CHAIN", "CERT_HAS_EXPIRED", "UNABLE_TO_VERIFY_LEAF_SIGNATURE", "ERR_INVALID_CHAR"]) {
      expect([code, networkFailure(withCode(code, "x"), "https://model.test").retryable]).toEqual([code, false]);
    }
    expect(networkFailure(new TypeError("x is not a function"), "https://model.test").retryable).toBe(false);
  });

  test("a refused connection is retryable, but not on loopback, also when several addresses were tried", () => {
    const several = new AggregateError([withCode("ECONNREFUSED", "connect ECONNREFUSED ::1:11434")]);
    expect(networkFailure(several, "http://localhost:11434/v1")).toMatchObject({
      retryable: false,
      text: expect.stringContaining("localhost:11434"),
    });
    expect(networkFailure(withCode("ECONNREFUSED", "x"), "https://model.test")).toMatchObject({ retryable: true });
  });

  test("an endless chain of causes ends", () => {
    const error = new Error("round");
    error.cause = error;
    expect(networkFailure(error, "https://model.test").text).toContain("round");
  });
});

test("a part of the program that is gone is no fault of the network, and is not tried again", () => {
  const gone = Object.assign(new Error("Cannot find module"), { code: "ERR_MODULE_NOT_FOUND" });
  expect(requestFailure(gone, "http://127.0.0.1:1")).toMatchObject({
    kind: "invalid_request",
    retryable: false,
    text: expect.stringContaining("Start it again"),
  });
});
