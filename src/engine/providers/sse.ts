/** A `data` frame of the stream; `terminated` is false for a last one that no blank line closed. A `stray` line is no event stream. */
export type SseFrame = { type: "data"; data: string; terminated: boolean } | { type: "stray"; line: string };

/** Cuts bytes into server-sent events, however the network split them. Event names are left out: both protocols repeat them in the data. */
export async function* sseFrames(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<SseFrame> {
  let data: string[] = [];
  for await (const { text: line, terminated } of lines(bytes)) {
    if (line === "" && terminated) {
      if (data.length > 0) yield { type: "data", data: data.join("\n"), terminated: true };
      data = [];
      continue;
    }
    const field = splitField(line);
    if (field.name === "data") data.push(field.value);
    else if (!isKnownField(field.name)) yield { type: "stray", line };
  }
  if (data.length > 0) yield { type: "data", data: data.join("\n"), terminated: false };
}

/** Comments are fields without a name. */
function isKnownField(name: string): boolean {
  return name === "" || name === "event" || name === "id" || name === "retry";
}

function splitField(line: string): { name: string; value: string } {
  const colon = line.indexOf(":");
  if (colon < 0) return { name: line, value: "" };
  const start = line[colon + 1] === " " ? colon + 2 : colon + 1;
  return { name: line.slice(0, colon), value: line.slice(start) };
}

/** Lines end in CR LF, LF or CR; a CR at the end of a piece waits for the next one. */
async function* lines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<{ text: string; terminated: boolean }> {
  const decoder = new TextDecoder();
  // Pieces of the unfinished line are joined once: a line of a megabyte in small pieces must not be copied for each of them.
  let rest: string[] = [];
  let skipLineFeed = false;
  for await (const chunk of bytes) {
    let text = decoder.decode(chunk, { stream: true });
    if (text === "") continue;
    if (skipLineFeed && text.startsWith("\n")) text = text.slice(1);
    skipLineFeed = text === "" ? false : text.endsWith("\r");
    const pieces = text.split(/\r\n|\n|\r/);
    for (const piece of pieces.slice(0, -1)) {
      rest.push(piece);
      yield { text: rest.join(""), terminated: true };
      rest = [];
    }
    rest.push(pieces.at(-1) ?? "");
  }
  rest.push(decoder.decode());
  const last = rest.join("");
  if (last !== "") yield { text: last, terminated: false };
}
