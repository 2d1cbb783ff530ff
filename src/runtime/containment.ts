import { isAbsolute, join } from "node:path";
import { UserError } from "../protocol/errors.ts";
import type { Touched } from "../safety/os-sandbox/guard.ts";
import type { OsSandbox, SandboxRequest } from "../safety/os-sandbox/os-sandbox.ts";
import type { BashOptions } from "../tools/bash/bash-options.ts";
import type { Settings } from "./settings-schema.ts";

export type Containment = AsyncDisposable & {
  /** Whether this command would run inside. */
  contains: (command: string) => Promise<boolean>;
  contain: NonNullable<BashOptions["contain"]>;
  /** Throws UserError where no sandbox works. */
  require(): Promise<void>;
};

/** What a program says when the sandbox held it. */
const NETWORK = /network is unreachable|ENETUNREACH|could not resolve|EAI_AGAIN|name resolution/i;
const FILES = /read-only file system|EROFS|bwrap: /i;

/**
 * The OS sandbox for the commands of one agent, by the settings; undefined when they turn it off. It is loaded and probed with the first
 * command. `places` is asked then.
 */
export function openContainment(
  settings: Settings["sandbox"] = {},
  notice: (text: string) => void,
  places: () => Promise<Omit<SandboxRequest, "network" | "hosts" | "excluded" | "isRequired">>,
): Containment | undefined {
  const { mode = "auto", network = "off", writable = [], excluded = [] } = settings;
  if (mode === "off") return undefined;
  const reach = typeof network === "string" ? { network, hosts: [] } : { network: "off" as const, hosts: network };
  let opening: Promise<{ sandbox: OsSandbox; works: boolean; reason: string }> | undefined;
  const open = () => {
    opening ??= start();
    return opening;
  };

  async function start() {
    const { OsSandbox } = await import("../safety/os-sandbox/os-sandbox.ts");
    const found = await places();
    const more = writable
      .map((path) => path.replace(/^~(?=\/|$)/, found.home))
      .map((path) => (isAbsolute(path) ? path : join(found.root, path)));
    const sandbox = new OsSandbox({
      ...found,
      writable: [...found.writable, ...more],
      ...reach,
      excluded,
      isRequired: mode === "required",
    });
    const probe = await sandbox.probe();
    if (probe.works) return { sandbox, works: true, reason: "" };
    const reason = `${probe.reason}. ${probe.mend}`;
    if (mode === "auto") notice(`Commands run without an OS sandbox: ${reason}`);
    return { sandbox, works: false, reason };
  }

  return {
    async contains(command) {
      const { sandbox, works } = await open();
      return works && !sandbox.isExcluded(command);
    },
    async contain(argv, { command, isUnsandboxed }) {
      const { sandbox, works } = await open();
      if (!works || isUnsandboxed || sandbox.isExcluded(command)) return undefined;
      const contained = sandbox.wrap(argv);
      return {
        argv: contained.argv,
        end: () => touchedText(contained.end()),
        hint(output) {
          const refused = contained.takeRefused();
          if (refused.length > 0) return hintOf(`${refused.join(", ")} ${refused.length === 1 ? "is" : "are"} not let out there`);
          const isNetwork = NETWORK.test(output) && network !== "on";
          if (isNetwork) return hintOf(network === "off" ? "it has no network there" : `only ${network.join(", ")} can be reached there`);
          return FILES.test(output) ? hintOf(FILES_ONLY) : undefined;
        },
      };
    },
    async require() {
      const { works, reason } = await open();
      if (!works) throw new UserError(`The settings require an OS sandbox (sandbox: required), and ${reason}`);
    },
    async [Symbol.asyncDispose]() {
      (await opening)?.sandbox[Symbol.dispose]();
    },
  };
}

function touchedText(touched: readonly Touched[]): string | undefined {
  const names = (isLeft: boolean) =>
    touched
      .filter((one) => one.isLeft === isLeft)
      .map(({ path }) => path)
      .join(", ");
  const [kept, left] = [names(false), names(true)];
  const texts = [
    ...(kept
      ? [
          `[the OS sandbox keeps ${kept} as it was: what the command put there is in "<name>.refused"; links in the git folder are taken away]`,
        ]
      : []),
    ...(left ? [`[the OS sandbox could not take away what the command put at ${left}: the person should look at it and remove it]`] : []),
  ];
  return texts.length > 0 ? texts.join("\n") : undefined;
}

const FILES_ONLY = "it may write only to the working tree and /tmp there, and not to git's or RooCode's settings";

function hintOf(held: string): string {
  return `[this ran in the OS sandbox: ${held}. If it needs more, call Bash again with unsandboxed: true; the person is asked.]`;
}
