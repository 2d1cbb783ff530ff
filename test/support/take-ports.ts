// Takes a port block as a process of its own: take-ports.ts RECORD WORKTREE
import { takePorts } from "../../src/platform/port-blocks.ts";

const [record = "", worktree = ""] = process.argv.slice(2);
const { first } = await takePorts(record, worktree, { from: 20_000, size: 10 });
process.send?.(first);
process.disconnect?.();
