import { setTimeout as sleep } from "node:timers/promises";

/** Waits for a condition; the test fails when it does not come true in time. */
export async function eventually(condition: () => boolean | Promise<boolean>, withinMs = 20_000): Promise<void> {
  const until = Date.now() + withinMs;
  while (!(await condition())) {
    if (Date.now() > until) throw new Error(`It did not come true within ${withinMs} ms: ${condition}`);
    await sleep(20);
  }
}
