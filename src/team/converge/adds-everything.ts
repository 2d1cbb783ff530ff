const GIT = "\\bgit(?:\\s+-[cC]\\s+\\S+|\\s+--?[a-z]\\S*)*\\s+";
const REST = "\\b[^;&|\\n]*?\\s";
const END = "(?=\\s|$|[;&|)])";
const SWEEPING = new RegExp(
  `${GIT}(?:add${REST}(?:--all|--update|--no-ignore-removal|-[a-zA-Z]*[Au][a-zA-Z]*|\\.\\/?|:\\/|\\*)|commit${REST}(?:--all|-[qsvn]*a[a-zA-Z]*))${END}`,
);

/**
 * `git add` of all there is, in any of its spellings, or the commit that does the same: that is how conflict markers and
 * bystanders get into a merge. A text can hide it; the look at the commit comes after.
 */
export function addsEverything(command: string): boolean {
  // What stands in quotes is a message, unless it is the star itself.
  return SWEEPING.test(command.replace(/"[^"]*"|'[^']*'/g, (quoted) => (/^.[*.:]\/?.$/.test(quoted) ? quoted.slice(1, -1) : "_")));
}
