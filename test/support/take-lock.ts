// A process of a test: takes the lock of each session that it is told, and keeps it until it ends.
import * as z from "zod";
import { lockSession } from "../../src/memory/session-lock.ts";

const Order = z.object({ path: z.string() });

process.on("message", (order) => {
  try {
    lockSession(Order.parse(order).path);
    process.send?.("taken");
  } catch (error) {
    process.send?.(String(error));
  }
});
process.send?.("ready");
