/**
 * A terminal or a reader that went away takes no more output; the work goes on, or is saved by the signal that comes with it.
 * Called before the first output, not at the start: the streams cost CPU that the way to the first request need not pay.
 */
export function outliveOutput(): void {
  for (const output of [process.stdout, process.stderr]) if (!output.listeners("error").includes(passOn)) output.on("error", passOn);
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
