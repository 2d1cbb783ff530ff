import { createServer, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { EventStreams } from "../../../src/interaction/team-page/event-streams.ts";
import { OneTimeTokens } from "../../../src/interaction/team-page/one-time-tokens.ts";
import { eventually } from "../../support/eventually.ts";

test("a reader that takes nothing holds no more than what it was told first, and is told the newest when it reads on", async () => {
  const streams = new EventStreams(1);
  let waiting = 0;
  const server = createServer((_, response) => {
    streams.add(response, {});
    setInterval(() => {
      waiting = Math.max(waiting, response.writableLength);
    }, 1).unref();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const answer = await new Promise<IncomingMessage>((resolve) =>
    request({ port: (server.address() as AddressInfo).port, host: "127.0.0.1" }, resolve).end(),
  );
  answer.pause();
  for (let version = 2; version <= 200_000; version++) {
    streams.tell(version);
    if (version % 10_000 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  streams.tell(200_001, true);
  expect(waiting).toBeLessThan(100_000);
  let text = "";
  answer.setEncoding("utf8").on("data", (piece: string) => {
    text += piece;
  });
  answer.resume();
  await eventually(() => text.endsWith("event: end\ndata: 200001\n\n"));
  server.closeAllConnections();
  await eventually(() => streams.size === 0);
  server.close();
});

test("a token is used once, a new one voids the one before, and only the cookie that it gave counts", () => {
  const tokens = new OneTimeTokens();
  const first = tokens.next();
  const second = tokens.next();
  expect([tokens.use(first), tokens.use(second), tokens.use(second)]).toEqual([false, true, false]);
  expect(tokens.hasCookie(`a=b; roo=${tokens.cookieValue}`, "roo")).toBe(true);
  expect(["", "roo=", `ro=${tokens.cookieValue}`, `roo=${tokens.cookieValue}x`].map((one) => tokens.hasCookie(one, "roo"))).toEqual(
    Array(4).fill(false),
  );
});
