/** Maximum words of a passage that are searched for; they are enough to find it. */
const MAX_SOUGHT_WORDS = 40;

/**
 * Returns the position of an answer in a document, for a person who wants to check it: `page 4` if the document has pages,
 * otherwise `line 120`. Undefined if the document does not contain these words.
 *
 * @param pageStarts the offset of each page in the text, in UTF-16 units
 * @param evidence the passage that the answer was taken from, if known: a short answer may occur many times
 */
export function answerPlace(
  document: { readonly text: string; readonly pageStarts?: readonly number[] | undefined },
  answer: string,
  evidence: string | undefined,
): string | undefined {
  const { text, pageStarts } = document;
  const passage = evidence === undefined ? undefined : find(text, evidence, 0);
  const at = passage === undefined ? find(text, answer, 0) : (find(text, answer, passage) ?? passage);
  if (at === undefined) return undefined;
  if (pageStarts !== undefined && pageStarts.length > 0)
    return `page ${Math.max(1, pageStarts.filter((start) => start <= at).length)}`;
  return `line ${text.slice(0, at).split('\n').length}`;
}

/** Escapes a text for use in a regular expression. */
function escapePattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}

/** Returns the offset of `sought` from `start` on, ignoring differences in white space. */
function find(text: string, sought: string, start: number): number | undefined {
  const words = sought.trim().split(/\s+/).slice(0, MAX_SOUGHT_WORDS);
  if (words.length === 0 || words[0] === '') return undefined;
  const pattern = new RegExp(words.map(escapePattern).join('\\s+'), 'g');
  pattern.lastIndex = start;
  return pattern.exec(text)?.index;
}
