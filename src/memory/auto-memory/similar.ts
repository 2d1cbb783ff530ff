const ALIKE = 0.85;

/** Nearly the same sentence, whatever its case and punctuation: by pairs of letters, so in any script. */
export function isAlike(a: string, b: string): boolean {
  const [pairsA, pairsB] = [pairsOf(a), pairsOf(b)];
  if (pairsA.length === 0 || pairsB.length === 0) return a.trim() === b.trim();
  const left = new Map<string, number>();
  for (const pair of pairsA) left.set(pair, (left.get(pair) ?? 0) + 1);
  let common = 0;
  for (const pair of pairsB) {
    const count = left.get(pair) ?? 0;
    if (count > 0) {
      common += 1;
      left.set(pair, count - 1);
    }
  }
  return (2 * common) / (pairsA.length + pairsB.length) >= ALIKE;
}

function pairsOf(text: string): string[] {
  const letters = [
    ...text
      .normalize("NFC")
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, " ")
      .trim(),
  ];
  return letters.slice(1).map((letter, index) => `${letters[index]}${letter}`);
}
