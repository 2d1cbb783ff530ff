import { expect, test } from "vitest";
import { serverParts, toolNames } from "../../../src/tools/mcp/names.ts";
import { readServers } from "../../../src/tools/mcp/schema.ts";

test("a server written wrongly is a problem that names its field, and costs only itself", () => {
  const read = readServers(
    {
      a: { command: "a", args: "one" },
      b: { command: "b", env: { PORT: 80 }, disabled: false },
      c: {},
      d: { url: "http://d", type: "ftp" },
      e: 5,
    },
    "mcp.json",
  );
  expect(read.servers).toEqual([
    { name: "b", source: "mcp.json", config: { disabled: false, command: "b", args: [], env: { PORT: "80" } } },
  ]);
  expect(read.problems.map((problem) => problem.split(": ").slice(0, 2).join(": "))).toEqual([
    "mcp.json: mcpServers.a.args",
    "mcp.json: mcpServers.c.command",
    "mcp.json: mcpServers.d.type",
    "mcp.json: mcpServers.e",
  ]);
});

test("no servers are no problem; a list is", () => {
  expect(readServers(undefined, "x")).toEqual({ servers: [], problems: [] });
  expect(readServers([], "x").problems).toHaveLength(1);
});

test("a server's part never holds or ends in what divides server and tool", () => {
  const parts = serverParts(["a__b", "_c_", "d.e", "ö"]);
  expect([...parts.values()]).toEqual(["a_b", "c", "d_e", "server"]);
});

test("a server's name does not depend on the order, nor a tool's", () => {
  const servers = ["x y", "x_y", "a-server-with-a-name-that-is-long", "a-server-with-a-name-that-is-longer"];
  const forwards = serverParts(servers);
  const backwards = serverParts([...servers].reverse());
  for (const name of servers) expect(backwards.get(name)).toBe(forwards.get(name));
  expect(new Set(forwards.values()).size).toBe(4);
  const tools = toolNames("a".repeat(28), ["t".repeat(40), `${"t".repeat(40)}2`]);
  expect([...tools.values()].map((name) => name.length)).toEqual([64, 64]);
});
