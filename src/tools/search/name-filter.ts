import { underClock } from "./under-clock.ts";

/** What ripgrep's types and our own matcher read alike: a base name with stars, or with alternatives. */
export function isSimpleName(name: string): boolean {
  return /^[\w.*?-]*(?:\{[\w.*?,-]+\}[\w.*?-]*)?$/.test(name) && !name.includes("**") && !name.includes("..") && name !== "";
}

/** Tells which relative paths a glob means. One without a slash is about names at any depth when `isByName`. Undefined when it takes too long. */
export async function nameFilter(glob: string, isByName: boolean): Promise<(files: readonly string[]) => boolean[] | undefined> {
  const { default: picomatch } = await import("picomatch");
  const pattern = glob.replace(/^\.?\//, "");
  const options = { dot: true, basename: isByName && !glob.includes("/") };
  // A pattern can be made to take for ever, and the language gives no way out of a match.
  const clock = underClock(2_000);
  return (files) =>
    clock(() => {
      const matches = picomatch(pattern, options);
      return files.map((file) => matches(file));
    });
}
