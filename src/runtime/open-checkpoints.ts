import { join } from "node:path";
import type { Checkpoints } from "../memory/checkpoints/checkpoints.ts";
import type { Checkpoint } from "../memory/load-session.ts";
import type { Session } from "../protocol/session.ts";
import type { Surroundings } from "./surroundings.ts";

type Options = { session: Session; earlier: readonly Checkpoint[]; onProblem: (text: string) => void };

/** Snapshots of this folder's files for a session; most runs change none, so it loads when the first is due. */
export async function openCheckpoints({ data, projectRoot, root, repository }: Surroundings, options: Options): Promise<Checkpoints> {
  const [{ Checkpoints }, { SnapshotStore }] = await Promise.all([
    import("../memory/checkpoints/checkpoints.ts"),
    import("../memory/checkpoints/snapshot-store.ts"),
  ]);
  const { session, earlier, onProblem } = options;
  const store = new SnapshotStore({
    store: join(data.project(projectRoot), "checkpoints.git"),
    root,
    session: session.id,
    isRepository: repository !== undefined,
  });
  return new Checkpoints(store, (entry) => session.append(entry), onProblem, earlier);
}
