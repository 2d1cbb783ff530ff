import { runCommand } from "./process.ts";

type Way = { file: string; args: readonly string[] };

/** A clipboard that hangs must not hold the screen. */
const MAX_MS = 5_000;
const MAX_BYTES = 64 * 1024 * 1024;

const LINUX: readonly Way[] = ["image/png", "image/jpeg"].flatMap((type) => [
  { file: "wl-paste", args: ["--no-newline", "--type", type] },
  { file: "xclip", args: ["-selection", "clipboard", "-t", type, "-o"] },
]);
const MAC: readonly Way[] = [
  { file: "pngpaste", args: ["-"] },
  // Prints «data PNGf89504E47…», in UTF-8.
  { file: "osascript", args: ["-e", "the clipboard as «class PNGf»"] },
];

/** The bytes of the image in the clipboard, or in words why there is none. */
export async function clipboardImage(env: NodeJS.ProcessEnv, system = process.platform): Promise<{ bytes: Buffer } | { problem: string }> {
  let isAnyThere = false;
  for (const { file, args } of system === "darwin" ? MAC : LINUX) {
    const { exitCode, stdout, missing } = await runCommand(file, args, {
      env,
      encoding: "latin1",
      timeoutMs: MAX_MS,
      maxBytes: MAX_BYTES,
    });
    isAnyThere ||= !missing;
    if (exitCode !== 0 || stdout === "") continue;
    const hex = /^[^d]{0,2}data PNGf([0-9A-F]+)/.exec(stdout)?.[1];
    return { bytes: hex === undefined ? Buffer.from(stdout, "latin1") : Buffer.from(hex, "hex") };
  }
  if (isAnyThere) return { problem: "There is no image in the clipboard. Text is pasted with your terminal's own key." };
  const programs = system === "darwin" ? "pngpaste" : "wl-paste (package wl-clipboard) or xclip";
  return { problem: `To paste an image, install ${programs}, or paste the path of an image file.` };
}
