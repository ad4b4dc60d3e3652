// A model refers to texts by their numbers: that takes fewer tokens than copying them and cannot corrupt them.

/** Formats the texts one per line, each with its number in front. */
export function numberLines(
  texts: readonly string[],
  numbers: readonly number[] = [...texts.keys()],
): string {
  return texts.map((text, index) => `[${numbers[index]}] ${text.replace(/\s+/g, ' ').trim()}`).join('\n');
}

/** Returns the numbers that exist, each once, in the given order: models repeat themselves and count past the end. */
export function keepExisting(numbers: readonly number[], count: number, limit: number): number[] {
  return [...new Set(numbers)].filter((number) => number < count).slice(0, limit);
}
