/** Characters of the texts of one generation, of which two are kept: a few documents, whose words take some megabytes. */
const MAX_CHARACTERS = 200_000;

/**
 * Returns `compute` with a memory: several questions about a document read the same texts. The texts of longest ago are
 * forgotten. Results are shared, so that a caller must not change them.
 */
export function rememberTexts<Result>(compute: (text: string) => Result): (text: string) => Result {
  let recent = new Map<string, Result>();
  let older = recent;
  let characters = 0;
  return (text) => {
    const known = recent.get(text);
    if (known !== undefined) return known;
    const result = older.get(text) ?? compute(text);
    // A text that fills a generation by itself would push all others out.
    if (text.length > MAX_CHARACTERS) return result;
    if (characters + text.length > MAX_CHARACTERS) {
      older = recent;
      recent = new Map();
      characters = 0;
    }
    recent.set(text, result);
    characters += text.length;
    return result;
  };
}
