/** Splits a text into words in lower case; a number with its separators is one word: `1,234.5`. */
export function splitWords(text: string): string[] {
  return toPlainText(text).match(/\d[\d,.]*\d|\d|[\p{L}]+(?:'[\p{L}]+)?/gu) ?? [];
}

/** Converts a text to lower case, without accents, with plain quotes and dashes. */
export function toPlainText(text: string): string {
  return text
    .normalize('NFKD')
    .replaceAll(/\p{Mn}/gu, '')
    .replaceAll(/[‘’´`]/g, "'")
    .replaceAll(/[“”]/g, '"')
    .replaceAll(/[‐‑‒–—−]/g, '-')
    .toLowerCase();
}

/** Returns a word without its ending, so that `teams`, `team's` and `team` are equal. */
export function stemTableWord(word: string): string {
  const base = word.replace(/'s?$/, '');
  if (base.length <= 3) return base;
  if (base.endsWith('ies') && base.length > 4) return `${base.slice(0, -3)}y`;
  if (/(ss|us|is)$/.test(base)) return base;
  if (/(ch|sh|x|z|ss)es$/.test(base)) return base.slice(0, -2);
  if (base.endsWith('s')) return base.slice(0, -1);
  if (base.endsWith('ing') && base.length > 5) return base.slice(0, -3);
  if (base.endsWith('ed') && base.length > 4) return base.slice(0, -2);
  return base;
}

/** Returns the indices of words that are names: quoted, or capitalised within a sentence. */
export function findNames(text: string, words: readonly string[]): Set<number> {
  const names = new Set<number>();
  const quoted = [...text.matchAll(/["“]([^"”]+)["”]/g)].flatMap(([, inner = '']) => splitWords(inner));
  const capital = [...text.matchAll(/(?<=[\p{Ll},;]\s)\p{Lu}[\p{L}'’-]+/gu)].flatMap(([name]) =>
    splitWords(name),
  );
  const all = new Set([...quoted, ...capital].map(stemTableWord));
  for (const [at, word] of words.entries()) if (all.has(stemTableWord(word))) names.add(at);
  return names;
}
