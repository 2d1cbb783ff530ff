const MOST = 5;

/** Names that look like the wanted one, as JSON so that odd blanks and split accents can be seen and sent back. */
export function nearNames(wanted: string, names: readonly string[]): string[] {
  const plain = plainName(wanted);
  const same = names.filter((name) => plainName(name) === plain);
  const alike = same.length > 0 ? same : names.filter((name) => stem(name) === stem(wanted) && stem(name) !== "");
  return alike.slice(0, MOST).map(visible);
}

function plainName(name: string): string {
  return name
    .normalize("NFKC")
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "")
    .replaceAll(/[\s\p{Zs}]+/gu, " ")
    .trim()
    .toLowerCase();
}

function stem(name: string): string {
  return plainName(name).replace(/\.[^.]*$/, "");
}

/** Blanks that are no space, marks that join the letter before them and control codes as escapes; letters as they are. */
function visible(name: string): string {
  const escaped = JSON.stringify(name).replaceAll(/[\p{Zs}\p{M}\p{Cf}\u2028\u2029]/gu, (character) =>
    character === " " ? character : [...character].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`).join(""),
  );
  return escaped;
}
