import type { AnswerFunction } from "../../src/interaction/demo/model-server.ts";
import { eventually } from "./eventually.ts";
import { fakeModel, type Protocol } from "./fake-model.ts";
import { childEnvironment, type TestHome, testHome } from "./home.ts";
import { tmuxSocket } from "./tmux-server.ts";

const BIN = decodeURIComponent(new URL("../../bin/roocode.js", import.meta.url).pathname);
/** The last line, with nothing typed; tmux cuts blanks at the end. */
const PROMPT = /^>\s*$(?![\s\S]*\S)/m;
/** The status line of the full screen. */
const FULL = "% of the window";

type Options = {
  protocol?: Protocol;
  args?: readonly string[];
  latencyMs?: number;
  files?: Readonly<Record<string, string>>;
  /** Before it starts. */
  prepare?: (home: TestHome) => Promise<void>;
  /** What it shows first, when that is not its prompt. */
  first?: string;
  /** The line screen, whose lines tests read best, unless the full one is what is tested. */
  screen?: "full" | "plain";
  env?: Readonly<Record<string, string>>;
  /** Started out of an interactive shell, which has jobs. */
  shell?: boolean;
};

/** Bare `roocode` in a real pane, with a scripted model. */
export async function openRepl(
  answers: AnswerFunction,
  {
    protocol = "anthropic",
    args = [],
    latencyMs,
    files,
    prepare,
    screen: wish = "plain",
    env: extra = {},
    shell = false,
    first = wish === "full" ? FULL : undefined,
  }: Options = {},
) {
  const model = await fakeModel(answers, latencyMs === undefined ? {} : { latencyMs });
  const home = await testHome(files);
  await prepare?.(home);
  const socket = await tmuxSocket();
  const env = { ...childEnvironment(home.home), ...model.env(protocol), ROOCODE_SCREEN: wish, ...extra };
  const settings = Object.entries(env).flatMap(([name, value]) => ["-e", `${name}=${value}`]);
  const size = ["-x", "120", "-y", "60", "-c", home.repo];
  // A shell holds the pane, so that what stands there at the end can be read.
  // tmux gives the pane its own PATH, whatever -e says.
  const path = extra.PATH === undefined ? "" : `PATH="${extra.PATH}" `;
  const start = `${path}${process.execPath} ${BIN} ${args.join(" ")}`;
  const command = shell ? "exec bash --norc -i" : `${start}; echo "ended with $?"; exec sleep 1000`;
  const pane = await socket.tmux("new-session", "-d", "-P", "-F", "#{pane_id}", ...size, ...settings, command);
  if (shell) await socket.tmux("send-keys", "-t", pane, start, "Enter");
  const screen = () => socket.tmux("capture-pane", "-p", "-J", "-S", "-200", "-t", pane);
  const sees = async (text: string | RegExp) =>
    eventually(async () => (typeof text === "string" ? (await screen()).includes(text) : text.test(await screen())), 30_000).catch(
      async (error: unknown) => {
        throw new Error(`${error instanceof Error ? error.message : error}\n${text}\n${await screen()}`);
      },
    );
  const key = (...keys: readonly string[]) => socket.tmux("send-keys", "-t", pane, ...keys);
  const close = async () => {
    await socket[Symbol.asyncDispose]();
    await home[Symbol.asyncDispose]();
    try {
      model.proxy.assertLegal();
    } finally {
      await model[Symbol.asyncDispose]();
    }
  };
  await sees(first ?? PROMPT).catch((error: unknown) =>
    // The test that fails here has nothing yet that it could dispose of.
    close().finally(() => {
      throw error;
    }),
  );
  return {
    model,
    home,
    pane,
    socket,
    screen,
    sees,
    key,
    /** Waits for the prompt when nothing runs. */
    prompt: () => sees(PROMPT),
    type: async (text: string) => {
      await socket.tmux("send-keys", "-t", pane, "-l", text);
      await key("Enter");
    },
    [Symbol.asyncDispose]: close,
  };
}
