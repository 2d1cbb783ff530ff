import { closeSync, fstatSync } from "node:fs";
import { isatty } from "node:tty";
import { isErrno } from "../platform/files.ts";

/**
 * A terminal or a reader that went away takes no more output; the work goes on, or is saved by the signal that comes with it.
 * Called before the first output, not at the start: the streams cost CPU that the way to the first request need not pay.
 */
export function outliveOutput(): void {
  if (!process.listeners("exit").includes(letGo)) process.on("exit", letGo);
  for (const output of [process.stdout, process.stderr]) if (!output.listeners("error").includes(passOn)) output.on("error", passOn);
}

/**
 * At its end Node sets a terminal back that it began with, and aborts (134, a native stack, a core) where that is gone. What is closed
 * it leaves alone. A terminal that is gone is none any more, so what is no file, pipe or socket is closed.
 */
function letGo(): void {
  for (const fd of [0, 1, 2]) {
    try {
      if (fstatSync(fd).isCharacterDevice() && !isatty(fd)) closeSync(fd);
    } catch (error) {
      if (!isErrno(error, "EBADF", "EIO")) throw error;
    }
  }
}

/** Whose reader may be gone by then (`| head`): it takes no more, and that is no error. */
export function writeOut(text: string): void {
  outliveOutput();
  process.stdout.write(text);
}

/** Where the output is all that is wanted, a reader that went away ends the work. */
export function onLostReader(end: () => void): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") end();
  });
}

function passOn(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE" && error.code !== "EIO") throw error;
}
