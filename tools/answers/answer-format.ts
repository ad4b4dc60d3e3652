/**
 * The form of every answer, which prompts contain as {{answer_format}} (SV-16): the benchmark's own instruction (Mialon et al., GAIA, arXiv
 * 2311.12983) in half its words, with a word for not knowing.
 */
export const ANSWER_FORMAT =
  'Report your thoughts, then end with one line: FINAL ANSWER: [YOUR FINAL ANSWER]. YOUR FINAL ANSWER is a number, as few words as possible, or a comma separated list of these. Unless the question asks otherwise, write numbers without commas and units, and words without articles and abbreviations. If nothing supports an answer, write FINAL ANSWER: unknown';

/** The answer that stands for a missing one: an answer is never empty (RA-12), and this one counts as wrong. */
export const NO_ANSWER = 'No answer was found.';
