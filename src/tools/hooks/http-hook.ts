const MAX_BYTES = 1_000_000;

export type Reply = { status: number; body: string };

/** The event as a POST. A redirect is an answer of its own: what is sent goes to the named address alone. Throws with the reason in words. */
export async function postEvent(
  { url, headers }: { url: string; headers: Readonly<Record<string, string>> },
  payload: string,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<Reply> {
  const expanded = Object.entries(headers).map(([name, value]): [string, string] => [name, expand(value, env)]);
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...Object.fromEntries(expanded) },
      body: payload,
      redirect: "manual",
      signal,
    });
    return { status: response.status, body: await textOf(response) };
  } catch (error) {
    if (signal.aborted) throw error;
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    throw new Error(cause instanceof Error ? cause.message : String(cause));
  }
}

/** `${NAME}` from the environment, so that no secret stands in a settings file. */
function expand(text: string, env: NodeJS.ProcessEnv): string {
  return text.replaceAll(/\$\{(\w+)\}/g, (_, name: string) => {
    const value = env[name];
    if (value === undefined) throw new Error(`the variable ${name} of its headers is not set`);
    // What fetch says of such a value holds the value, which is a secret.
    if (/[^\t\x20-\x7e\x80-\xff]/.test(value.trim())) throw new Error(`the variable ${name} can't stand in a header`);
    return value.trim();
  });
}

async function textOf(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error(`its reply is larger than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
