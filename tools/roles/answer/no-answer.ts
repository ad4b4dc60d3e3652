/** Stands in place of an answer where none was found: an answer is never empty (RA-12), and this one counts as wrong. */
export const NO_ANSWER = 'No answer was found.';
