import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { describe } from "vitest";
import { runCommand } from "../../src/platform/process.ts";

const found = await runCommand("which", ["chromium"]);
const path = found.missing ? "" : found.stdout.trim();

/** On a person's machine without Chromium its tests are left out, and not counted; CI brings one, so there they would fail. */
export const browserDescribe = describe.skipIf(!process.env.CI && path === "");

export type WatchedPage = AsyncDisposable & {
  page: Page;
  /** What the console said, errors of scripts, and what a policy refused. */
  problems: string[];
};

/** A headless Chromium; its sandbox is not for root. */
export function openBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: path, args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] });
}

/** A page in a profile of its own. Chromium says on the console what a policy refuses. */
export async function openPage(browser: Browser, options: BrowserContextOptions = {}): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, ...options });
  const page = await context.newPage();
  const problems: string[] = [];
  page.on("console", (message) => problems.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => problems.push(error.message));
  return { page, problems, [Symbol.asyncDispose]: () => context.close() };
}
