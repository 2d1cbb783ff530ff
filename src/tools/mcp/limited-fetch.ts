/** One answer of a server; a stream of events is many, and is not counted. */
export const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/** `fetch` that does not take more into memory than a result may be. */
export async function limitedFetch(url: string | URL, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  const isStream = response.headers.get("content-type")?.includes("event-stream");
  if (isStream || !response.body) return response;
  let bytes = 0;
  const counted = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.byteLength;
        if (bytes > MAX_ANSWER_BYTES) controller.error(new Error(tooMuch()));
        else controller.enqueue(chunk);
      },
    }),
  );
  const { status, statusText, headers } = response;
  const limited = new Response(counted, { status, statusText, headers });
  Object.defineProperty(limited, "url", { value: response.url });
  return limited;
}

export function tooMuch(): string {
  return `an answer of more than ${MAX_ANSWER_BYTES / 1024 / 1024} MB; ask for less`;
}
