import { NO_ANSWER } from '../../answers/answer-format.ts';
import { cleanAnswer } from '../../answers/clean-answer.ts';
import type { IsRight } from '../../tool-services.ts';
import type { Answered } from '../answer/answered.ts';
import type { ResolutionType } from '../memory/attempt.ts';
import type { TraceEntry } from '../trace.ts';

/**
 * Classifies the end of an attempt by what was observed (OV-34). A right answer in the wrong form is a format error, never a reasoning
 * gap (OV-41); an attempt that ran out of turns or time, or whose programs never ran, hit a tool limit; one that could not get
 * its information is a retrieval failure. A failed call that a later one made up for counts as none of these.
 *
 * @param answer the scored answer (OV-07)
 */
export function classifyResolution(
  answer: string,
  answered: Answered,
  truths: readonly string[],
  entries: readonly TraceEntry[],
  isRight: IsRight,
): ResolutionType {
  if (answer !== NO_ANSWER) {
    if (truths.some((truth) => isRight(answer, truth))) return 'correct';
    const raw = cleanAnswer(answered.text) ?? '';
    if (truths.some((truth) => [answer, raw].some((said) => isSameStatement(said, truth))))
      return 'format_error';
  }
  if (answered.ended === 'limit' || answered.ended === 'cut_off') return 'tool_limit';
  if (hasFailedForGood(entries, (tool) => !COMPUTES.has(tool))) return 'retrieval_failure';
  return hasFailedForGood(entries, (tool) => COMPUTES.has(tool)) ? 'tool_limit' : 'reasoning_gap';
}

/** Tools that compute; all others retrieve something. */
const COMPUTES: ReadonlySet<string> = new Set(['calculator', 'python_repl', 'execute_python_file']);

/** Returns true if the last call of such tools failed: earlier failures were made up for by a later success. */
function hasFailedForGood(entries: readonly TraceEntry[], isOne: (tool: string) => boolean): boolean {
  const last = entries.findLast(({ kind, tool }) => kind === 'tool' && tool !== undefined && isOne(tool));
  return last?.failed === true;
}

const NUMBER = /-?\d[\d,]*(?:\.\d+)?/g;

/** Returns true if two answers differ only in form: case, spaces, marks, articles, and the text around a number. */
function isSameStatement(said: string, truth: string): boolean {
  if (/^-?\d[\d,]*(?:\.\d+)?$/.test(truth.trim())) {
    const numbers = said.match(NUMBER) ?? [];
    return numbers.length === 1 && parsePlainNumber(numbers[0]) === parsePlainNumber(truth);
  }
  const bare = stripForm(truth);
  return bare !== '' && stripForm(said) === bare;
}

function parsePlainNumber(text: string): number {
  return Number(text.replaceAll(',', ''));
}

function stripForm(text: string): string {
  return text
    .toLowerCase()
    .replace(/\b(?:the|an?)\s+/g, '')
    .replace(/[^\p{L}\p{N}]+/gu, '');
}
