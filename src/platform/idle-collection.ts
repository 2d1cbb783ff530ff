let isSet = false;

/**
 * V8 collects all garbage two or three times once a process stands still; each costs some 35 ms of CPU, and the first frees nearly all
 * there is. From the first call on it does so once. Loading `node:v8` takes 2 ms, so not on the way to a first request.
 */
export async function collectOnceWhenIdle(): Promise<void> {
  if (isSet) return;
  isSet = true;
  const { setFlagsFromString } = await import("node:v8");
  const flag = FLAGS[process.versions.v8.split(".", 1)[0] ?? ""];
  if (flag !== undefined) setFlagsFromString(flag);
}

/** By V8's major version (Node 20, 22, 24): of a flag it does not know V8 complains on stderr. */
const FLAGS: Record<string, string> = {
  11: "--memory-reducer-single-gc",
  12: "--memory-reducer-gc-count=1",
  13: "--memory-reducer-gc-count=1",
};
