import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { eventually } from "./eventually.ts";
import { fakeModel } from "./fake-model.ts";
import { childEnvironment, testHome } from "./home.ts";
import { tmuxSocket } from "./tmux-server.ts";

const BIN = decodeURIComponent(new URL("../../bin/roocode.js", import.meta.url).pathname);

/** `roocode team` in a real pane, its teammates in others; the pane stays when it ends. */
export async function teamInPanes(
  answers: Parameters<typeof fakeModel>[0],
  args: readonly string[],
  extra: Readonly<Record<string, string>> = {},
) {
  const model = await fakeModel(answers);
  const home = await testHome();
  // Inside the sandbox nothing would be asked.
  await mkdir(home.data, { recursive: true });
  await writeFile(join(home.data, "config.yaml"), "sandbox: off\n");
  const socket = await tmuxSocket();
  const env = { ...childEnvironment(home.home), ...model.env("anthropic"), ...extra };
  const settings = Object.entries(env).flatMap(([name, value]) => ["-e", `${name}=${value}`]);
  const command = [process.execPath, BIN, "team", ...args];
  const size = ["-x", "200", "-y", "50", "-c", home.repo];
  const lead = await socket.tmux("new-session", "-d", "-P", "-F", "#{pane_id}", ...size, ...settings, ...command);
  await socket.tmux("set-option", "-g", "remain-on-exit", "on");
  const screen = (pane: string) => socket.tmux("capture-pane", "-p", "-J", "-t", pane);
  return {
    home,
    model,
    lead,
    tmux: socket.tmux,
    /** Words by which another program is a client of this server. */
    client: ["TMUX_TMPDIR=".concat(socket.folder), "tmux", ...socket.socketArgs],
    /** Words by which a pane of this server runs the program. */
    roocode: [process.execPath, BIN],
    screen,
    sees: (pane: string, text: string) =>
      eventually(async () => (await screen(pane)).includes(text), 60_000).catch(async (error: unknown) => {
        throw new Error(`${error instanceof Error ? error.message : error}\n${text}\n${await screen(pane)}`);
      }),
    type: async (where: string, text: string) => {
      await socket.tmux("send-keys", "-t", where, "-l", text);
      await socket.tmux("send-keys", "-t", where, "Enter");
    },
    untilOver: async () => {
      await eventually(async () => (await socket.tmux("list-panes", "-a", "-F", "#{pane_id} #{pane_dead}")).includes(`${lead} 1`), 60_000);
      return screen(lead);
    },
    async [Symbol.asyncDispose]() {
      await socket[Symbol.asyncDispose]();
      await home[Symbol.asyncDispose]();
      model.proxy.assertLegal();
      await model[Symbol.asyncDispose]();
    },
  };
}
