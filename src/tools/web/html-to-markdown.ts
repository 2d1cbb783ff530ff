import { decodeEntities } from "./entities.ts";

/** What a reader of the text does not see, with everything in it. */
const HIDDEN = new Set(["script", "style", "noscript", "template", "svg", "iframe", "head", "nav", "footer", "select", "button", "canvas"]);
/** Text up to the end tag, whatever it looks like. */
const RAW = new Set(["script", "style", "textarea", "title", "noscript", "iframe"]);
const BLOCKS = new Set(
  "address article aside blockquote dd details dialog div dl dt fieldset figcaption figure form h1 h2 h3 h4 h5 h6 header hr li main ol p pre section summary table tbody tfoot thead tr ul".split(
    " ",
  ),
);
const MARKS: Record<string, string> = { b: "**", strong: "**", i: "_", em: "_", code: "`", kbd: "`" };
const TOKEN = /<!--|<!|<\?|<(\/?)([a-zA-Z][a-zA-Z0-9:-]*)/g;

/**
 * The text of a page with its headings, lists, links, tables and code. Not a parser of all of HTML: tags are read one after another,
 * each character once, so that no page takes longer than its length.
 */
export function htmlToMarkdown(html: string, base: string): string {
  const writer = new Writer(base);
  let at = 0;
  for (;;) {
    TOKEN.lastIndex = at;
    const found = TOKEN.exec(html);
    if (!found) break;
    writer.text(html.slice(at, found.index));
    const name = found[2]?.toLowerCase();
    if (name === undefined) {
      const close = html.indexOf(found[0] === "<!--" ? "-->" : ">", found.index + 2);
      at = close < 0 ? html.length : close + (found[0] === "<!--" ? 3 : 1);
      continue;
    }
    const end = tagEnd(html, TOKEN.lastIndex);
    const isClosing = found[1] === "/";
    if (isClosing) writer.close(name);
    else writer.open(name, html.slice(TOKEN.lastIndex, end));
    at = Math.min(end + 1, html.length);
    if (isClosing || !RAW.has(name)) continue;
    const raw = rawEnd(html, name, at);
    if (name === "title") writer.title(html.slice(at, raw));
    else if (!HIDDEN.has(name)) writer.text(html.slice(at, raw));
    at = raw;
  }
  writer.text(html.slice(at));
  return writer.finish();
}

/** The `>` of a tag, past those in its quotes. */
function tagEnd(html: string, from: number): number {
  let quote = "";
  for (let at = from; at < html.length; at++) {
    const character = html.charAt(at);
    if (quote !== "") quote = character === quote ? "" : quote;
    else if (character === ">") return at;
    else if ((character === '"' || character === "'") && html.charAt(at - 1) === "=") quote = character;
  }
  return html.length;
}

function rawEnd(html: string, name: string, from: number): number {
  const close = new RegExp(`</${name}(?=[\\s/>])`, "gi");
  close.lastIndex = from;
  return close.exec(html)?.index ?? html.length;
}

class Writer {
  /** What is finished, and what a link or a gap may still change. */
  readonly #done: string[] = [];
  #out = "";
  #title = "";
  #hidden: string[] = [];
  #lists: { ordered: boolean; count: number }[] = [];
  #links: { href: string; start: number }[] = [];
  #pre = 0;
  #cells = 0;
  readonly #base: string;

  constructor(base: string) {
    this.#base = base;
  }

  title(text: string): void {
    if (this.#title === "") this.#title = decodeEntities(text).replace(/\s+/g, " ").trim();
  }

  text(html: string): void {
    if (html === "" || this.#hidden.length > 0) return;
    this.#putAway();
    const text = decodeEntities(html);
    if (this.#pre > 0) this.#out += text;
    else {
      const flat = text.replace(/\s+/g, " ");
      this.#out += /(^|\s)$/.test(this.#out.slice(-1)) ? flat.trimStart() : flat;
    }
  }

  open(name: string, attributes: string): void {
    this.#putAway();
    const isVoid = /\/\s*$/.test(attributes);
    if (HIDDEN.has(name) || /\s(hidden|aria-hidden\s*=\s*["']?true)(?=[\s"'/]|$)/i.test(attributes)) {
      if (!isVoid && !/^(br|hr|img|input|meta|link|wbr|source)$/.test(name)) this.#hidden.push(name);
      return;
    }
    if (this.#hidden.length > 0) {
      // Only its own kind can hide the end of what is hidden.
      if (!isVoid && name === this.#hidden[0]) this.#hidden.push(name);
      return;
    }
    if (BLOCKS.has(name) && this.#pre === 0) this.#block(name);
    if (name === "br") this.#out += "\n";
    else if (name === "hr") this.#out += "---\n\n";
    else if (name === "pre" && this.#pre++ === 0) this.#out += "```\n";
    else if (name === "ul" || name === "ol") this.#lists.push({ ordered: name === "ol", count: 0 });
    else if (name === "td" || name === "th") this.#out += this.#cells++ === 0 ? "| " : "";
    else if (name === "a") this.#links.push({ href: attribute(attributes, "href"), start: this.#out.length });
    else if (name === "img" && attribute(attributes, "alt").trim() !== "") this.#out += `[image: ${attribute(attributes, "alt").trim()}]`;
    else if (this.#pre === 0) this.#out += MARKS[name] ?? "";
  }

  close(name: string): void {
    if (this.#hidden.length > 0) {
      if (name === this.#hidden.at(-1)) this.#hidden.pop();
      return;
    }
    if (name === "pre") {
      this.#pre = Math.max(0, this.#pre - 1);
      if (this.#pre === 0) this.#out += `${this.#out.endsWith("\n") ? "" : "\n"}\`\`\`\n\n`;
    } else if (name === "ul" || name === "ol") {
      this.#lists.pop();
      if (this.#lists.length === 0) this.#gap(2);
    } else if (name === "td" || name === "th") this.#out += " | ";
    else if (name === "tr") {
      this.#cells = 0;
      this.#gap(1);
    } else if (name === "a") this.#endLink();
    else if (BLOCKS.has(name) && this.#pre === 0) this.#gap(this.#lists.length > 0 ? 1 : 2);
    else if (this.#pre === 0) this.#out += MARKS[name] ?? "";
  }

  finish(): string {
    const body = [...this.#done, this.#out]
      .join("")
      .split("\n")
      .map((line) => line.trimEnd())
      .join("\n")
      .replace(/\n{3,}/g, "\n\n")
      .trim();
    return this.#title === "" || body.startsWith(`# ${this.#title}`) ? body : `# ${this.#title}\n\n${body}`;
  }

  /** Each look at the end copies the text: it is kept short. */
  #putAway(): void {
    if (this.#out.length < 20_000) return;
    // Nobody means so much text by a link.
    this.#links = [];
    this.#done.push(this.#out.slice(0, -1_000));
    this.#out = this.#out.slice(-1_000);
  }

  #block(name: string): void {
    if (name === "tr") {
      this.#cells = 0;
      this.#gap(1);
      return;
    }
    if (name !== "li") {
      this.#gap(this.#lists.length > 0 || this.#cells > 0 ? 1 : 2);
      const level = /^h([1-6])$/.exec(name)?.[1];
      if (level) this.#out += `${"#".repeat(Number(level))} `;
      else if (name === "blockquote") this.#out += "> ";
      return;
    }
    this.#gap(1);
    const list = this.#lists.at(-1);
    if (list) list.count += 1;
    this.#out += `${"  ".repeat(Math.max(0, this.#lists.length - 1))}${list?.ordered ? `${list.count}.` : "-"} `;
  }

  /** At least so many line breaks, unless a list mark or a cell has just begun. */
  #gap(breaks: number): void {
    const tail = this.#out.slice(-200);
    if (tail.trim() === "" && this.#done.length === 0) return;
    if (/(^|\n)\s*(-|\d+\.|>|#+|\|) $/.test(tail)) return;
    const have = /\n*$/.exec(tail.replace(/[ \t]+$/, ""))?.[0].length ?? 0;
    if (this.#cells === 0) this.#out += "\n".repeat(Math.max(0, breaks - have));
    else if (!tail.endsWith(" ")) this.#out += " ";
  }

  #endLink(): void {
    const link = this.#links.pop();
    if (!link || !URL.canParse(link.href, this.#base)) return;
    const { href, protocol } = new URL(link.href, this.#base);
    const text = this.#out.slice(link.start);
    if (text.trim() === "" || !/^https?:$/.test(protocol) || link.href.startsWith("#") || text.includes("\n")) return;
    this.#out = `${this.#out.slice(0, link.start)}[${text.trim()}](${href})${text.endsWith(" ") ? " " : ""}`;
  }
}

function attribute(attributes: string, name: string): string {
  const found = new RegExp(`(?:^|\\s)${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s>"']+))`, "i").exec(attributes);
  return decodeEntities(found?.[1] ?? found?.[2] ?? found?.[3] ?? "");
}
