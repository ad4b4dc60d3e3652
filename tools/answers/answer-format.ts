/** The instruction that the benchmark gives for every answer (Mialon et al., GAIA, arXiv 2311.12983; SV-16). Prompts contain it as {{answer_format}}. */
export const ANSWER_FORMAT = `Report your thoughts, and finish your answer with the following template: FINAL ANSWER: [YOUR FINAL ANSWER]. YOUR FINAL ANSWER should be a number OR as few words as possible OR a comma separated list of numbers and/or strings. If you are asked for a number, don't use comma to write your number neither use units such as $ or percent sign unless specified otherwise. If you are asked for a string, don't use articles, neither abbreviations (e.g. for cities), and write the digits in plain text unless specified otherwise. If you are asked for a comma separated list, apply the above rules depending of whether the element to be put in the list is a number or a string.`;

/** The prefix of an answer in a text that is passed on. */
export const FINAL_ANSWER_PREFIX = 'FINAL ANSWER: ';

/** The answer that stands for a missing one: an answer is never empty (RA-12), and this one counts as wrong. */
export const NO_ANSWER = 'No answer was found.';
