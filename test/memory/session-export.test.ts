import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { toHtml } from "../../src/memory/session-export/html.ts";
import { toMarkdown } from "../../src/memory/session-export/markdown.ts";
import { parts } from "../../src/memory/session-export/parts.ts";
import type { SessionEntry } from "../../src/protocol/session.ts";
import { answer, at, header, result, roundEnd, user } from "../support/session-entries.ts";

const ENTRIES: SessionEntry[] = [
  user('Look at <script>alert("x")</script> & **this**'),
  {
    type: "message",
    at,
    message: {
      role: "assistant",
      provider: "p",
      model: "m",
      content: [
        { type: "thinking", text: "I wonder.", signature: "s" },
        { type: "text", text: "I run it." },
        { type: "tool_use", id: "a", name: "Bash", input: { command: "echo </pre>" } },
        { type: "tool_use", id: "b", name: "ReadFile", input: { path: "a.ts" } },
      ],
    },
  },
  result("b", "```\ncode\n```"),
  result("a", "</pre><b>out</b>"),
  roundEnd("<system-reminder>mail</system-reminder>", "and hurry"),
  answer(
    'A <img src=x onerror="alert(1)"> [bad](javascript:alert(1)) [good](https://example.com/?a=1&b="2") ![pic](https://example.com/p.png)\n\n<iframe src="https://example.com"></iframe>\n\n```html\n<script>x</script>\n```',
  ),
  { type: "compaction", at, history: [], trigger: "auto", mode: "suffix", tokensBefore: 1, tokensAfter: 1 },
  {
    type: "message",
    at,
    message: { role: "user", content: [{ type: "image", mediaType: 'image/png" onload="x', data: "AAAA" }] },
  },
  { type: "message", at, message: { role: "user", content: [{ type: "image", mediaType: "image/png", data: "AAAA" }] } },
];

test("a page shows HTML of the conversation and obeys none of it, loads nothing and leads only to the web or to mail", () => {
  const page = [...toHtml("<T>", header, parts(ENTRIES))].join("");
  const tags = [...page.matchAll(/<([a-z0-9]+)([^>]*)>/g)].map(([, name, attributes]) => `${name}${attributes}`);
  expect(tags.filter((tag) => /^(script|iframe|b\b|link|object)/.test(tag))).toEqual([]);
  expect(tags.filter((tag) => /\son\w+=/.test(tag.replace(/"[^"]*"/g, '""')))).toEqual([]);
  expect([...page.matchAll(/href="([^"]*)"/g)].map((match) => match[1])).toEqual([expect.stringMatching(/^https:\/\/example\.com/)]);
  expect([...page.matchAll(/src="([^"]*)"/g)].map((match) => match[1])).toEqual(["data:image/png;base64,AAAA"]);
  expect(page).toContain('&lt;script&gt;alert("x")&lt;/script&gt;');
  expect(page).toContain("<strong>this</strong>");
  expect(page).toContain("color-scheme: light dark");
  // Its policy lets in this style sheet and no other.
  const style = /<style>([\s\S]*?)<\/style>/.exec(page)?.[1] ?? "";
  expect(page).toContain(`style-src 'sha256-${createHash("sha256").update(style).digest("base64")}';`);
});

test("calls are folded with their results in the order of the calls, thinking and reminders too", () => {
  const page = [...toHtml("T", header, parts(ENTRIES))].join("");
  expect([...page.matchAll(/<summary>(.*?)<\/summary>/g)].map((match) => match[1])).toEqual([
    "Thinking",
    "Bash: echo &lt;/pre&gt;",
    "ReadFile: a.ts",
    "Reminder of the system",
  ]);
  expect(page).toContain("<pre>&lt;/pre&gt;&lt;b&gt;out&lt;/b&gt;</pre>");
  expect(page.indexOf("and hurry")).toBeGreaterThan(page.indexOf("ReadFile"));
});

test("Markdown fences what stands in results longer than any fence in it", () => {
  const text = [...toMarkdown("T", { ...header, parent: "p1" }, parts(ENTRIES))].join("");
  expect(text).toContain("````\n```\ncode\n```\n````");
  expect(text).toContain("- Fork of: p1");
  expect(text).toContain("The conversation was summarised here.");
  expect(text.match(/^## .*$/gm)).toEqual(["## You", "## RooCode", "## You", "## RooCode", "## You"]);
});

test("a fork that begins with a compaction shows what that holds", () => {
  const history = [...parts(ENTRIES)].length;
  expect(history).toBeGreaterThan(5);
  const fork: SessionEntry = {
    type: "rewind",
    at,
    history: ENTRIES.flatMap((entry) => (entry.type === "message" && entry.message.role === "user" ? [entry.message] : [])).slice(0, 1),
  };
  expect([...parts([fork])]).toEqual([{ type: "user", text: expect.stringContaining("Look at") }]);
});
