import { programOf } from "../command-line.ts";
import { changedKeys, isExecKey, readGit, rewritingPush } from "../git-command.ts";
import { type Detector, deny, stickyAsk } from "./finding.ts";

/** Settings that make git run programs, secrets of credential helpers, and pushes that rewrite. */
export const gitHarm: Detector = (part) => {
  const name = programOf(part);
  if (name.startsWith("git-credential")) return [stickyAsk("it asks git for passwords")];
  if (name !== "git") return [];
  const git = readGit(part);
  if (git.subcommand.startsWith("credential")) return [stickyAsk("it asks git for passwords")];
  if (rewritingPush(git) === "force") return [stickyAsk("this push overwrites or deletes what others have")];
  const change = changedKeys(git);
  if (!change) return [];
  if (change.isEditor) return [stickyAsk("it opens git's configuration for any change")];
  const key = change.keys[0];
  if (key && !key.isKnown) return [stickyAsk("which setting of git it changes is only known when it runs")];
  if (key && isExecKey(key.text)) return [deny(`the git setting "${key.text}" makes git run programs or leads it elsewhere`)];
  return change.scope === "elsewhere" ? [stickyAsk("it changes git's configuration for every project")] : [];
};
