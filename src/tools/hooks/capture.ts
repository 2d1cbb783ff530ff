const MAX_STDOUT = 1_000_000;
const MAX_STDERR = 64_000;
/** Who prints more is ended. */
const FLOOD_BYTES = 8_000_000;

/** The beginning of what a hook prints: an answer is short. */
export class Capture {
  readonly flooded: Promise<void>;
  bytes = 0;
  #flood: () => void = () => undefined;
  readonly #kept = { stdout: { chunks: [] as Buffer[], bytes: 0 }, stderr: { chunks: [] as Buffer[], bytes: 0 } };

  constructor() {
    this.flooded = new Promise((resolve) => {
      this.#flood = resolve;
    });
  }

  add(name: "stdout" | "stderr", bytes: Buffer): void {
    this.bytes += bytes.length;
    const kept = this.#kept[name];
    const room = (name === "stdout" ? MAX_STDOUT : MAX_STDERR) - kept.bytes;
    if (room > 0) {
      kept.chunks.push(bytes.subarray(0, room));
      kept.bytes += Math.min(room, bytes.length);
    }
    if (this.bytes > FLOOD_BYTES) this.#flood();
  }

  get stdout(): string {
    return Buffer.concat(this.#kept.stdout.chunks).toString("utf8");
  }

  get stderr(): string {
    return Buffer.concat(this.#kept.stderr.chunks).toString("utf8");
  }
}
