import { argsOf, type Part, programOf, type Word } from "../command-line.ts";
import { judgePath } from "../path-sandbox.ts";
import { type Detector, deny, type Finding, pathsOf, type Scene } from "./finding.ts";
import { judgeTarget } from "./removal.ts";

const CODE_FLAGS: readonly [RegExp, RegExp][] = [
  [/^(node|nodejs|bun|tsx)$/, /^(-[a-z]*[ep]|--eval|--print)$/],
  [/^deno$/, /^eval$/],
  [/^(python[\d.]*|pypy3?)$/, /^-[a-zA-Z]*c$/],
  [/^(perl|ruby)$/, /^-[a-zA-Z]*[eE]$/],
  [/^(lua[\d.]*|Rscript|osascript)$/, /^-e$/],
  [/^php$/, /^-r$/],
  [/^[gmn]?awk$/, /^-e$/],
];
const DELETES =
  /\b(rmtree|remove_tree|rm_rf|rm_r|remove_entry_secure|remove_dir|rimraf|rmSync|rmdirSync|rmdir|removeSync|emptyDirSync|rmtree_safe|delTree|unlink|rm)\s*[\s(]/;
const STRONG_DELETES =
  /\b(rmtree|remove_tree|rm_rf|rm_r|remove_entry_secure|rimraf|rmSync|rmdirSync|removeSync|emptyDirSync|fs\.rm|fs\.promises\.rm|promises\.rm|FileUtils\.rm\w*)\b/;
const WRITES =
  /\b(write(File|FileSync|_text|_bytes|lines)?|append(File|FileSync)?|unlink(Sync)?|rename(Sync)?|replace|copy(File|FileSync|file|tree|2)?|move|symlink(Sync)?|link(Sync)?|chmod(Sync)?|file_put_contents|truncate(Sync)?|createWriteStream|mkdir(Sync)?|makedirs)\s*\(/;
const SHELL_CALL =
  /(?:\b(?:system|popen|popen2|execSync|execFileSync|spawnSync|execFile|spawn|check_call|check_output|getoutput|getstatusoutput|shell_exec|passthru|proc_open|os\.execute|doShellScript|qx)\s*\(?\s*|\bsubprocess\.\w+\s*\(\s*\[?\s*|\bexec\s*[( ]\s*|\bdo shell script\s+|%x|\bspawn\s*\(\s*)(f?["'`{(])/g;

/** One-liners for an interpreter: what they delete by a literal path, the shell text they start, loops that multiply. */
export function codeDetector(inspect: (text: string, part: Part, scene: Scene) => readonly Finding[]): Detector {
  return (part, scene) => {
    const findings: Finding[] = [];
    for (const word of codeOf(part)) {
      findings.push(...deletions(word, part, scene));
      if (/\bfork\b/.test(word.text) && /\b(while|until|for|loop|forever)\b/.test(word.text))
        findings.push(deny("the program starts itself again and again"));
      findings.push(...policyWrites(word, part, scene));
      for (const text of shellTexts(word.text, programOf(part))) findings.push(...inspect(text, part, scene));
    }
    return findings;
  };
}

function codeOf(part: Part): Word[] {
  const name = programOf(part);
  const flag = CODE_FLAGS.find(([program]) => program.test(name))?.[1];
  if (!flag) return [];
  const args = argsOf(part);
  const named = args.flatMap((word, index) => (flag.test(word.text) ? args.slice(index + 1, index + 2) : []));
  const glued = args.flatMap((word) => {
    const match = /^--(?:eval|print)=([\s\S]*)$/.exec(word.text);
    return match ? [{ ...word, text: match[1] ?? "" }] : [];
  });
  if (/awk$/.test(name)) return args.filter((word) => word.text.includes("{"));
  const isStdin = args.every((word) => word.text.startsWith("-")) && named.length === 0 && part.stdin !== undefined;
  return [
    ...named,
    ...glued,
    ...(isStdin ? [{ text: part.stdin ?? "", isKnown: true, hasGlob: false, isUnsafe: false, isQuoted: true, runs: [] }] : []),
  ];
}

function deletions(code: Word, part: Part, scene: Scene): Finding[] {
  if (!STRONG_DELETES.test(code.text) || !DELETES.test(code.text.replace(/\b(fs|promises|FileUtils)\./g, ""))) return [];
  return literals(code.text).flatMap((text) => {
    const home = scene.ground.home;
    const path = text === "~" ? home : text.startsWith("~/") ? `${home}/${text.slice(2)}` : text;
    if (!/^(\/|\.{1,2}(\/|$))/.test(path) && path !== "*") return [];
    const word = { ...code, text: path, isKnown: true, hasGlob: /[*?]/.test(path), isBelow: false };
    return judgeTarget(word, part, scene, "removes");
  });
}

function literals(code: string): string[] {
  return [...code.matchAll(/"((?:\\.|[^"\\])*)"|'((?:\\.|[^'\\])*)'|`((?:\\.|[^`\\])*)`|q\{([^}]*)\}/g)].map(
    (match) => match[1] ?? match[2] ?? match[3] ?? match[4] ?? "",
  );
}

/** A literal path of git or of the policy, in code that writes files. */
function policyWrites(code: Word, part: Part, scene: Scene): Finding[] {
  const opensToWrite =
    /\bopen\w*\s*\(/.test(code.text) &&
    literals(code.text).some((text) => /^[rwaxb]*[wax+][rwaxb+]*$/.test(text) || text === ">" || text === ">>");
  if (!WRITES.test(code.text) && !opensToWrite) return [];
  return literals(code.text).flatMap((text) => {
    if (text === "" || /\s/.test(text)) return [];
    const paths = pathsOf({ ...code, text, isKnown: true, hasGlob: false }, part, scene.ground) ?? [];
    const hit = paths.map((path) => judgePath(path, "write", scene.ground, false)).find((verdict) => verdict.isPolicy);
    return hit ? [deny(hit.reason, "path")] : [];
  });
}

/** Literal texts that the code hands to a shell; a list of words counts as one text. */
function shellTexts(code: string, program: string): string[] {
  const texts: string[] = [];
  // In JavaScript `exec` is a method of regular expressions as well.
  const isScript = /^(node|nodejs|bun|deno|tsx)$/.test(program);
  const mayExec = !isScript || /child_process|execa|shelljs|\bzx\b|Bun\.\$|Deno\.(run|Command)/.test(code);
  for (const match of mayExec ? code.matchAll(SHELL_CALL) : []) {
    const at = (match.index ?? 0) + match[0].length - (match[1]?.length ?? 0);
    const rest = code.slice(at);
    const list = /^(\s*f?(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`)\s*,?\s*\[?\s*)+/.exec(rest)?.[0];
    if (list) texts.push(literals(list).join(" "));
    else if (rest.startsWith("{") || rest.startsWith("(")) texts.push(rest.slice(1).replace(/[})].*$/s, ""));
  }
  // Backticks run a command in Perl and Ruby; in JavaScript they are text.
  if (/^(perl|ruby|php)/.test(program)) texts.push(...[...code.matchAll(/`((?:\\.|[^`\\])*)`/g)].map((match) => match[1] ?? ""));
  return texts;
}
