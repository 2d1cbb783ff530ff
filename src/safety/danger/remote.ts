import { argsOf, type Part, parseOptions, programOf, type Word } from "../command-line.ts";
import type { Ground } from "../path-sandbox.ts";
import { isShellName } from "../rules.ts";
import { touchesOf } from "../touches.ts";
import { type Detector, deny, pathsOf, type Scene, stickyAsk } from "./finding.ts";
import { isFetcher, isRawSocket, isRunner, opensNetworkFile, readsProgram } from "./programs.ts";

const DECODES =
  /^(base64|base32|basenc|uudecode|xxd|openssl|gunzip|gzip|zcat|bunzip2|bzcat|xz|xzcat|unxz|zstd|zstdcat|rev|tr|gpg|ascii85|qprint|rot13|iconv|hex|od)$/;

/** Text from the network or out of a decoder that is run, and shells that the network reaches. */
export const remoteCode: Detector = (part, scene) => {
  const shell = reverseShell(part, scene);
  if (shell) return [deny(shell)];
  if (!isRunner(part) && !runsFile(part)) return [];
  const fed = readsProgram(part) ? [...part.before, ...stdinRuns(part)] : [];
  const sources = [...fed, ...runsOf(part)];
  const fetcher =
    sources.find(isFetcher) ??
    (scriptFiles(part).some((word) => isDownloaded(word, part, scene)) ? scene.line.parts.find(isFetcher) : undefined);
  if (fetcher) return [stickyAsk(`it runs what it downloads (${describe(fetcher)}), unseen`)];
  const decoder = sources.find(decodes);
  return decoder ? [stickyAsk(`it runs text that "${programOf(decoder)}" decodes, unseen`)] : [];
};

function describe(part: Part): string {
  return part.words.find((word) => /:\/\/|^[\w-]+(\.[\w-]+)+/.test(word.text))?.text ?? part.words.map((word) => word.text).join(" ");
}

function decodes(part: Part): boolean {
  const name = programOf(part);
  if (!DECODES.test(name)) return false;
  const options = parseOptions(argsOf(part), ["w"]);
  if (/^(base64|base32|basenc|openssl|gpg)$/.test(name))
    return (
      ["d", "D", "decode", "decrypt", "base64"].some((flag) => options.flags.has(flag)) ||
      argsOf(part).some((word) => /^--de/.test(word.text))
    );
  if (name === "xxd") return options.flags.has("r");
  if (/^(gzip|xz|zstd)$/.test(name)) return options.flags.has("d") || options.flags.has("decompress");
  return name !== "od";
}

/** The commands whose output stands in the words. */
export function runsOf(part: Part): Part[] {
  return [...part.words, ...part.assignments.map((each) => each.value)].flatMap((word) => word.runs);
}

function stdinRuns(part: Part): Part[] {
  return part.redirects.filter((redirect) => redirect.use === "read").flatMap((redirect) => redirect.target.runs);
}

function runsFile(part: Part): boolean {
  return part.words[0]?.isKnown === true && part.words[0].text.includes("/");
}

function scriptFiles(part: Part): Word[] {
  const first = part.words[0];
  const own = first && runsFile(part) ? [first] : [];
  return isRunner(part) ? [...own, ...touchesOf(part).reads] : own;
}

/** Another command of the line writes this file with what it got from the network. */
function isDownloaded(file: Word, part: Part, scene: Scene): boolean {
  const writers = (pathsOf(file, part, scene.ground) ?? []).flatMap((path) => scene.writers(path));
  return writers.some((other) => other !== part && (isFetcher(other) || other.before.some(isFetcher)));
}

/** The files that a part writes, those that a download names after its address included. */
export function downloadPaths(part: Part, ground: Ground): string[] {
  const written = touchesOf(part).writes.flatMap((word) => pathsOf(word, part, ground) ?? []);
  if (!isFetcher(part)) return written;
  const args = argsOf(part);
  const byName = programOf(part) === "wget" || args.some((word) => /^-[a-zA-Z]*[OJ]|^--remote-name/.test(word.text));
  const urls = byName ? args.filter((word) => word.text.includes("/") && !word.text.startsWith("-")) : [];
  const named = urls.flatMap((word) =>
    part.cwds.map(
      (cwd) =>
        `${cwd}/${
          word.text
            .replace(/[?#].*$/, "")
            .split("/")
            .at(-1) ?? ""
        }`,
    ),
  );
  return [...written, ...named];
}

function reverseShell(part: Part, { line }: Scene): string | undefined {
  const name = programOf(part);
  const args = argsOf(part);
  if (
    /^(nc|ncat|netcat|nc\.traditional|nc\.openbsd)$/.test(name) &&
    args.some((word) => /^(-[a-zA-Z]*[ec]|--(exec|sh-exec|lua-exec))/.test(word.text) && !/^-[a-zA-Z]*z/.test(word.text))
  )
    return "it gives a shell to the network";
  if (
    name === "socat" &&
    args.some((word) => /^(exec|system|shell):/i.test(word.text)) &&
    args.some((word) => /tcp|udp|openssl|socks|sctp/i.test(word.text))
  )
    return "it gives a shell to the network";
  if (
    isShellName(name) &&
    (opensNetworkFile(part) || part.redirects.some((each) => each.isCopy) === true) &&
    line.parts.some((each) => opensNetworkFile(each)) &&
    isOpenShell(part)
  )
    return "it gives a shell to the network";
  const isPiped = readsProgram(part) && isShellName(name);
  if (isPiped && part.after.some(isRawSocket)) return "it gives a shell to the network";
  if (isPiped && part.before.some(isRawSocket) && part.before.some((each) => opensNetworkFile(each)))
    return "it gives a shell to the network";
  if (isRunner(part) && args.some((word) => isReverseShellCode(word.text))) return "it gives a shell to the network";
  return undefined;
}

/** No script of its own: what it does comes from outside. */
function isOpenShell(part: Part): boolean {
  return readsProgram(part) || argsOf(part).some((word) => /^-[a-z]*i/.test(word.text));
}

function isReverseShellCode(code: string): boolean {
  return (
    /socket|TCPSocket|fsockopen|Socket::INET|net\.(connect|Socket|createConnection)|io\.popen/i.test(code) &&
    /dup2|pty\.spawn|\/bin\/(ba|z|da)?sh|cmd\.exe|STDIN->fdopen|open\(STDIN|exec\(["']sh/i.test(code) &&
    /connect|fsockopen|TCPSocket|createConnection|Socket/i.test(code)
  );
}
