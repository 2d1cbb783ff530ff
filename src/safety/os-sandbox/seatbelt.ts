import type { Mount, SandboxPlan } from "./policy.ts";

/** Ways to have another program, outside, do something. */
const LEADING_OUT = [
  "com.apple.coreservices.launchservicesd",
  "com.apple.lsd.open",
  "com.apple.coreservices.appleevents",
  "com.apple.security.agent",
];

/** The same plan in the language of sandbox-exec on macOS: of two lines on one path the later counts. Written by its manual, never run. */
export function seatbeltProfile({ mounts, guarded, temp, network }: SandboxPlan): string {
  return [
    "(version 1)",
    "(allow default)",
    "(deny appleevent-send)",
    `(deny mach-lookup ${LEADING_OUT.map((name) => `(global-name ${quoted(name)})`).join(" ")})`,
    "(deny signal (target others))",
    network === "off" ? "(deny network*)" : "(deny network-outbound (remote unix-socket))",
    ...(network === "on" ? ['(allow network-outbound (literal "/private/var/run/mDNSResponder"))'] : []),
    "(deny file-write*)",
    '(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (subpath "/dev/fd"))',
    ...mounts.flatMap(mountLines),
    `(allow file-read* file-write* (subpath ${quoted(temp)}))`,
    // A name that is not there can be denied as well as one that is.
    ...guarded.map(({ path }) => `(deny file-write* (subpath ${quoted(path)}))`),
  ].join("\n");
}

function mountLines({ path, kind }: Mount): string[] {
  const here = quoted(path);
  switch (kind) {
    case "temp":
      return [];
    case "write":
      // It may be filled, not moved away with what is protected in it.
      return [`(allow file-read* file-write* (subpath ${here}))`, `(deny file-write-unlink (literal ${here}))`];
    case "read":
      return [`(allow file-read* (subpath ${here}))`, `(deny file-write* (subpath ${here}))`];
    case "hideFile":
      return [`(deny file-read* file-write* (literal ${here}))`];
    case "hideFolder":
      return [`(deny file-read* file-write* (subpath ${here}))`];
  }
}

function quoted(text: string): string {
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}
