import { spawn } from "node:child_process";
import { once } from "node:events";
import type { SignIn } from "../tools/mcp/connection.ts";
import { fileCredentials, memoryCredentials } from "../tools/mcp/credentials.ts";
import { Loopback } from "../tools/mcp/loopback.ts";
import { signInWith } from "../tools/mcp/oauth.ts";
import type { HttpServerConfig } from "../tools/mcp/schema.ts";

/** In a session, where no browser is opened unasked: with what an earlier sign-in left. */
export async function quietSignIn(authFile: string, url: URL, config: HttpServerConfig): Promise<SignIn | undefined> {
  const store = fileCredentials(authFile, url.href);
  const { tokens } = await store.read();
  return Object.keys(tokens).length === 0 ? undefined : signInWith(store, config.oauth ?? {}, undefined);
}

/** Opens the person's browser; what it brings is kept for later sessions where `authFile` is given. */
export async function signInByBrowser(
  { authFile, env, say }: { authFile: string | undefined; env: NodeJS.ProcessEnv; say: (text: string) => void },
  url: URL,
  config: HttpServerConfig,
): Promise<SignIn & AsyncDisposable> {
  const store = authFile === undefined ? memoryCredentials() : fileCredentials(authFile, url.href);
  const loopback = await Loopback.open((await store.read()).port);
  const open = (address: URL) => openBrowser(address, env, say);
  return { ...signInWith(store, config.oauth ?? {}, { loopback, open }), [Symbol.asyncDispose]: () => loopback[Symbol.asyncDispose]() };
}

async function openBrowser(url: URL, env: NodeJS.ProcessEnv, say: (text: string) => void): Promise<void> {
  if (url.protocol !== "https:" && url.protocol !== "http:") throw new Error(`the address to sign in at is no web page: ${url.protocol}`);
  say(`Sign in at ${url.href}`);
  const program = env.BROWSER ?? (process.platform === "darwin" ? "open" : "xdg-open");
  const child = spawn(program, [url.href], { stdio: "ignore", detached: true, env });
  // Without a browser here the person opens the address that was said.
  await once(child, "spawn").catch(() => undefined);
  child.on("error", () => undefined);
  child.unref();
}
