import { isDeepStrictEqual } from "node:util";
import { changeYaml } from "./yaml-file.ts";

type ListAddition = { path: readonly string[]; items: readonly unknown[] };

/** Adds what is not there yet to lists of a YAML file; gives how many items it added. */
export async function addToLists(yamlFile: string, additions: readonly ListAddition[], isDryRun = false): Promise<number> {
  const { isSeq } = await import("./yaml.ts");
  let added = 0;
  await changeYaml(
    yamlFile,
    (document) => {
      for (const { path, items } of additions) {
        for (const item of items) {
          const list = document.getIn(path);
          if (!isSeq(list)) document.setIn(path, document.createNode([item]));
          else if (list.toJSON().some((one: unknown) => isDeepStrictEqual(one, item))) continue;
          else list.add(document.createNode(item));
          added += 1;
        }
      }
      return added > 0;
    },
    isDryRun,
  );
  return added;
}
