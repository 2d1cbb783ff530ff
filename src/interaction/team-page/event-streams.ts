import type { ServerResponse } from "node:http";

const MOST_STREAMS = 32;

type Stream = { response: ServerResponse; told: string; isFull: boolean };

/** Tells browsers which version of a page there is. One that reads slowly is told the newest when it reads on, never what came between. */
export class EventStreams {
  readonly #streams = new Set<Stream>();
  #last: { text: string; isEnd: boolean };

  constructor(version: number) {
    this.#last = { text: message(version), isEnd: false };
  }

  get size(): number {
    return this.#streams.size;
  }

  /** False where there are too many. */
  add(response: ServerResponse, headers: Record<string, string>): boolean {
    if (this.#streams.size >= MOST_STREAMS) return false;
    response.writeHead(200, { ...headers, "content-type": "text/event-stream; charset=utf-8" });
    response.write("retry: 2000\n\n");
    const stream: Stream = { response, told: "", isFull: false };
    this.#streams.add(stream);
    response.on("drain", () => {
      stream.isFull = false;
      this.#tell(stream);
    });
    response.on("close", () => this.#streams.delete(stream));
    this.#tell(stream);
    return true;
  }

  tell(version: number, isEnd = false): void {
    this.#last = { text: isEnd ? `event: end\n${message(version)}` : message(version), isEnd };
    for (const stream of this.#streams) this.#tell(stream);
  }

  #tell(stream: Stream): void {
    if (stream.isFull || stream.told === this.#last.text) return;
    stream.told = this.#last.text;
    stream.isFull = !stream.response.write(this.#last.text);
  }
}

function message(version: number): string {
  return `data: ${version}\n\n`;
}
