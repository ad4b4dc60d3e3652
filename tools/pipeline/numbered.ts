// A model points to texts by their numbers: fewer tokens than copying them, and no way to get the copy wrong.

/** One line for each text, with its number in front. */
export function numberLines(
  texts: readonly string[],
  numbers: readonly number[] = [...texts.keys()],
): string {
  return texts.map((text, index) => `[${numbers[index]}] ${text.replace(/\s+/g, ' ').trim()}`).join('\n');
}

/** The numbers that exist, each once, in the order given: models repeat themselves and count past the end. */
export function keepExisting(numbers: readonly number[], count: number, limit: number): number[] {
  return [...new Set(numbers)].filter((number) => number < count).slice(0, limit);
}
