import type { Mount, SandboxPlan } from "./policy.ts";

/** They lead to programs outside: agents of keys, the desktop, containers, a terminal's other panes. */
const LEADING_OUT = [
  ...["SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO", "DBUS_SESSION_BUS_ADDRESS", "DBUS_SYSTEM_BUS_ADDRESS", "XDG_RUNTIME_DIR"],
  ...["DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "TMUX", "TMUX_PANE", "DOCKER_HOST", "CONTAINER_HOST", "VSCODE_IPC_HOOK_CLI"],
];
/** The kernel's own settings. Their files ask who writes, not what rights he has: the user root could change the machine from inside. */
const KERNEL = ["sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi", "driver", "mtrr", "asound", "pressure"].map(
  (name) => `/proc/${name}`,
);
/** Caches that their programs can't work without; those at home may not be written, so that nothing is planted there. */
const PRIVATE_CACHES = { GOCACHE: "/tmp/.cache/go-build", npm_config_cache: "/tmp/.cache/npm" };

/** git gc would expire the logs of other worktrees too, may not, and fails. Beside what GIT_CONFIG_COUNT may say already. */
const GIT_SETTINGS = "'gc.reflogexpire=never' 'gc.reflogexpireunreachable=never'";

/**
 * Arguments of bwrap, without the command. No `--new-session`: the command is started in a session of its own already, without a terminal,
 * and a second one would take it out of the group that is frozen when there are too many processes.
 */
export function bubblewrapArgs({ mounts, temp, blank, network }: SandboxPlan): string[] {
  // A checkout at the top would cover the devices and the process table of the sandbox with the machine's.
  const [top, below] = [mounts.filter(({ path }) => path === "/"), mounts.filter(({ path }) => path !== "/")];
  const hidden = mounts.filter(({ kind }) => kind === "hideFolder").map(({ path }) => path);
  return [
    ...["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"],
    ...(network === "off" ? ["--unshare-net"] : []),
    ...["--die-with-parent", "--cap-drop", "ALL"],
    ...["--ro-bind", "/", "/", ...top.flatMap((mount) => mountArgs(mount, temp, blank)), "--dev", "/dev", "--proc", "/proc"],
    ...KERNEL.flatMap((path) => ["--ro-bind-try", path, path]),
    ...below.flatMap((mount) => mountArgs(mount, temp, blank)),
    // Only now: what stands in it needs a place to be mounted on.
    ...hidden.flatMap((path) => ["--remount-ro", path]),
    ...LEADING_OUT.flatMap((name) => ["--unsetenv", name]),
    ...["TMPDIR", "TMP", "TEMP"].flatMap((name) => ["--setenv", name, "/tmp"]),
    ...Object.entries(PRIVATE_CACHES).flatMap(([name, path]) => ["--setenv", name, path]),
    ...["--setenv", "GIT_CONFIG_PARAMETERS", GIT_SETTINGS],
  ];
}

function mountArgs({ path, kind }: Mount, temp: string, blank: string): string[] {
  switch (kind) {
    case "temp":
      return ["--bind", temp, path];
    case "write":
      return ["--bind", path, path];
    case "read":
      return ["--ro-bind", path, path];
    case "hideFile":
      return ["--ro-bind", blank, path];
    case "hideFolder":
      return ["--tmpfs", path];
  }
}
