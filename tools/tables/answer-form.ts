/**
 * Separates the items of answers that are sets. Questions that expect a set end with FORM, for every engine alike, so
 * that the answer can be split again.
 */
const SEPARATOR = ' | ';
const FORM = `Where the answer is several items, write ${SEPARATOR.trim()} between them.`;

/** Appends the form of the answer to a question. */
export function askForItems(question: string): string {
  return `${question}\n\n${FORM}`;
}

/** Removes the form of the answer from a question. */
export function stripForm(question: string): string {
  return question.endsWith(FORM) ? question.slice(0, -FORM.length).trimEnd() : question;
}

/** Returns the text between the items of an answer: a comma, unless the question asks for another. */
export function findSeparator(question: string): string {
  return question.endsWith(FORM) ? SEPARATOR : ', ';
}

/** Splits the answer to a question of {@link askForItems} into its items. */
export function splitItems(answer: string): string[] {
  return answer.split(/ *\| +/).filter((item) => item !== '');
}
