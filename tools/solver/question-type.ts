import { readCalculation } from './calculation.ts';
import { findPosition } from './chess.ts';
import { readPuzzle } from './text-puzzle.ts';

/** The specialist that a question without a file goes to (SV-07). */
export type QuestionType = 'web' | 'code' | 'math';

const YOUTUBE = /(?:https?:\/\/)?(?:www\.|m\.)?(?:youtube\.com\/(?:watch|shorts|live|embed)|youtu\.be\/)/i;
const LINK =
  /https?:\/\/|\bwww\.|\barxiv\b|\bwikipedia\b|\byoutube\b|\bgoogle\b|\bwebsites?\b|\bweb ?pages?\b|\bonline\b|\bdatabase of\b/i;
const CODE =
  /\b(?:python|javascript|java|c\+\+|rust|sql|code|source code|program|script|algorithm|function|recursi\w+|pseudo-?code|regular expression|regex|unlambda|compile[sd]?|loop|array|binary search|hash|bug|debug\w*|output of)\b/i;
const MATHS =
  /\b(?:calculate|compute|sum|product|quotient|remainder|percent(?:age)?|average|mean|median|square root|squared|cubed|factorial|prime|divisible|divided|multipl\w+|subtract\w*|plus|minus|times|equation|solve for|probability|geometry|triangle|circle|radius|diameter|area|volume|perimeter|angle|fraction|decimal|convert|logarithm|integral|derivative|how many (?:minutes|seconds|hours|metres|meters|grams|ways)|interest|discount|ratio|odds|puzzle|riddle|logic|how many (?:are|is|were|will be) left)\b|\d\s*[-+*/×÷^%]\s*\d/i;
const FACTS =
  /\b(?:who|when|where|whose|published|author|article|paper|book|novel|film|movie|album|song|city|country|population of|capital of|according to|born|died|founded|won|winner|championship|olympics?|museum|president|studio|actor|actress|played|season|episode|edition|volume \d+|released|discography)\b/i;

/**
 * Where a question goes by its type (SV-07, steps 2 and 3): a YouTube address to the web, then what is calculated to mathematics, what
 * is programmed or worked on letter by letter to code, and all other questions, which ask for facts, to the web.
 */
export function questionType(question: string): QuestionType {
  if (YOUTUBE.test(question) || LINK.test(question)) return 'web';
  const reading = readCalculation(question);
  if (reading !== undefined) return 'code' in reading ? 'code' : 'math';
  if (readPuzzle(question) !== undefined || findPosition(question) !== undefined) return 'code';
  if (CODE.test(question)) return 'code';
  // "What percentage of the members of the 1928 team …" has to be looked up first.
  if (MATHS.test(question) && !FACTS.test(question)) return 'math';
  return 'web';
}
