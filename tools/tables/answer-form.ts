/**
 * What a question says of the form of its answer: questions whose answers are sets end with it, for every engine alike, and the answer
 * comes back as a text that can be taken apart again.
 */
const SEPARATOR = ' | ';
const FORM = `Where the answer is several items, write ${SEPARATOR.trim()} between them.`;

/** The question, with the form that its answer is to have. */
export function askForItems(question: string): string {
  return `${question}\n\n${FORM}`;
}

/** The question without what it says of the form. */
export function stripForm(question: string): string {
  return question.endsWith(FORM) ? question.slice(0, -FORM.length).trimEnd() : question;
}

/** What stands between the items of an answer: a comma, unless the question says otherwise. */
export function findSeparator(question: string): string {
  return question.endsWith(FORM) ? SEPARATOR : ', ';
}

/** The items of an answer to a question of {@link askForItems}. */
export function splitItems(answer: string): string[] {
  return answer.split(/ *\| +/).filter((item) => item !== '');
}
