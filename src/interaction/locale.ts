/** A locale that names another encoding, or C, means a terminal that shows UTF-8 as rubbish. Where none is set, most show it well. */
export function speaksUtf8({ LC_ALL, LC_CTYPE, LANG }: NodeJS.ProcessEnv): boolean {
  const locale = LC_ALL || LC_CTYPE || LANG || "";
  if (locale === "C" || locale === "POSIX") return false;
  const [, encoding = "utf8"] = /\.([\w-]+)/.exec(locale) ?? [];
  return /^utf-?8$/i.test(encoding);
}
