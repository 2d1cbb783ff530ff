import { expect, test } from "vitest";
import { isPrivateAddress } from "../../src/platform/private-address.ts";
import type { PermissionMode } from "../../src/protocol/permission.ts";
import { decide } from "../../src/safety/decide.ts";
import { narrowestRules } from "../../src/safety/narrowest-rule.ts";
import { DISK } from "../../src/safety/path-sandbox.ts";
import { ruleSet } from "../../src/safety/rules.ts";
import { ruleNamesHost } from "../../src/safety/web-rules.ts";
import { accessIn } from "../support/access.ts";

const request = (url: string) => ({ agent: "test", tool: "WebFetch", access: accessIn("WebFetch", { url }) });

function decideFetch(url: string, rules: readonly string[], mode: PermissionMode = "default") {
  const ground = {
    root: "/home/dev/proj",
    cwd: "/home/dev/proj",
    home: "/home/dev",
    dataFolder: "/home/dev/.roocode",
    extraRoots: [],
    files: DISK,
  };
  return decide(request(url), { ground, mode, rules: ruleSet({ local: rules }), isTrusted: true, gitIsSafe: () => true });
}

const word = async (url: string, rules: readonly string[], mode?: PermissionMode) => (await decideFetch(url, rules, mode)).decision;

test("a fetch asks in every mode but bypassPermissions, and a rule for its host allows it", async () => {
  for (const mode of ["default", "acceptEdits", "plan"] as const) expect(await word("https://example.com/a", [], mode)).toBe("ask");
  expect(await word("https://example.com/a", [], "bypassPermissions")).toBe("allow");
  expect(await decideFetch("https://example.com/a?b", ["allow WebFetch(domain:example.com)"])).toMatchObject({
    decision: "allow",
    layer: "rule",
    rule: "WebFetch(domain:example.com)",
  });
});

test("a rule for a host covers each spelling of this host and nothing that only looks like it", async () => {
  const rule = ["allow WebFetch(domain:example.com)", "allow WebFetch(domain:bücher.example)"];
  const same = ["https://EXAMPLE.com./x", "http://example.com:8080/", "https://exam\tple.com/", "https://xn--bcher-kva.example/"];
  for (const url of same) expect(`${url} ${await word(url, rule)}`).toBe(`${url} allow`);
  const other = [
    "https://example.com.evil.com/",
    "https://evil.com/example.com",
    "https://evil.com#example.com",
    "https://evil.com?example.com",
    "https://evil.com\\.example.com/",
    "https://notexample.com/",
    "https://a.example.com/",
    "https://ехample.com/",
  ];
  for (const url of other) expect(`${url} ${await word(url, rule)}`).toBe(`${url} ask`);
  for (const url of [
    "https://example.com@evil.com/",
    "https://user:key@example.com/",
    "file:///etc/passwd",
    "ftp://example.com/",
    "example.com",
  ])
    expect(`${url} ${await word(url, rule, "bypassPermissions")}`).toBe(`${url} deny`);
});

test("a star covers what is below a domain and not the domain, and a port narrows a rule", async () => {
  const below = ["allow WebFetch(domain:*.example.com)"];
  expect(await word("https://a.b.example.com/", below)).toBe("allow");
  expect(await word("https://example.com/", below)).toBe("ask");
  expect(await word("https://evilexample.com/", below)).toBe("ask");
  expect(await word("https://example.com/", ["allow WebFetch(domain:example.com:443)"])).toBe("allow");
  expect(await word("https://example.com:444/", ["allow WebFetch(domain:example.com:443)"])).toBe("ask");
});

test("a deny wins over an allow and over the mode, in each spelling", async () => {
  const rules = ["allow WebFetch", "deny WebFetch(domain:*.evil.com)", "deny WebFetch(domain:evil.com)"];
  for (const url of ["https://evil.com/", "https://EVIL.com.:8443/", "http://a.evil.com/x"])
    expect(await decideFetch(url, rules, "bypassPermissions")).toMatchObject({ decision: "deny", layer: "rule" });
  expect(await word("https://evil.com.example/", rules)).toBe("allow");
});

test("this machine and private networks are closed in every mode, however they are written, until a rule names the host", async () => {
  const urls = [
    "http://127.0.0.1/",
    "http://2130706433/",
    "http://0x7f.1/",
    "http://0177.0.0.1/",
    "http://localhost:3000/",
    "http://LOCALHOST./",
    "http://a.localhost/",
    "http://[::1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://169.254.169.254/latest/meta-data/",
    "http://metadata.google.internal/",
    "http://10.1.2.3/",
    "http://192.168.0.1/",
    "http://0.0.0.0/",
    "http://[fe80::1]/",
    "http://[fd00::1]/",
  ];
  const wide = ["allow WebFetch", "allow WebFetch(*)", "allow WebFetch(domain:*)", "allow WebFetch(http*)"];
  for (const url of urls) {
    const decision = await decideFetch(url, wide, "bypassPermissions");
    expect(`${url} ${decision.decision} ${decision.layer}`).toBe(`${url} deny path`);
    const [rule = ""] = narrowestRules(request(url), decision, { root: "/", home: "/" });
    expect(decision.reason).toContain(rule);
    expect(`${url} ${await word(url, [`allow ${rule}`])}`).toBe(`${url} allow`);
    expect(ruleNamesHost(ruleSet({ project: [`allow ${rule}`] }).rules, url, false)).toBe(false);
  }
  expect(await word("http://localhost:3001/", ["allow WebFetch(domain:localhost:3000)"])).toBe("deny");
  expect(["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "172.32.0.1"].map(isPrivateAddress)).toEqual([false, false, false, false]);
});

test("a deny on a path holds for the same path in escapes, an allow does not", async () => {
  expect(await word("https://example.com/%61dmin/x", ["deny WebFetch(https://example.com/admin/*)"], "bypassPermissions")).toBe("deny");
  expect(await word("https://example.com/%61dmin/x", ["allow WebFetch(https://example.com/admin/*)"])).toBe("ask");
});
