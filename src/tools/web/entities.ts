/** The names that pages use; any other stays as it is written. */
const NAMED: Record<string, string> = {
  ...{ amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " ", copy: "©", reg: "®", trade: "™", hellip: "…", middot: "·" },
  ...{ mdash: "—", ndash: "–", lsquo: "‘", rsquo: "’", ldquo: "“", rdquo: "”", laquo: "«", raquo: "»", bull: "•", para: "¶", sect: "§" },
  ...{ larr: "←", rarr: "→", uarr: "↑", darr: "↓", times: "×", divide: "÷", plusmn: "±", deg: "°", micro: "µ", euro: "€", pound: "£" },
  ...{ yen: "¥", cent: "¢", le: "≤", ge: "≥", ne: "≠", asymp: "≈", infin: "∞", check: "✓", emsp: " ", ensp: " ", thinsp: " ", shy: "" },
  ...{ zwnj: "", zwj: "", lrm: "", rlm: "", auml: "ä", ouml: "ö", uuml: "ü", Auml: "Ä", Ouml: "Ö", Uuml: "Ü", szlig: "ß", eacute: "é" },
  ...{ egrave: "è", agrave: "à", ccedil: "ç", ntilde: "ñ", aring: "å", oslash: "ø", aelig: "æ", iexcl: "¡", iquest: "¿" },
};

export function decodeEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-zA-Z]{2,8}));?/g, (whole: string, decimal, hex, name) => {
    if (name !== undefined) return NAMED[String(name)] ?? whole;
    const code = hex === undefined ? Number.parseInt(String(decimal), 10) : Number.parseInt(String(hex), 16);
    return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) ? String.fromCodePoint(code) : "\ufffd";
  });
}
