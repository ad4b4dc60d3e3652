// Answers questions whose answer is not in the text: "Are both ...?" and "Which is older, A or B?".

import { isStopWord, listStems, splitWords } from '../language/words.ts';
import type { Question } from '../question.ts';
import type { Sentence } from './sentence-schema.ts';

/**
 * Returns one of the question's own alternatives, or "yes" or "no" where it asks for two things at once; undefined when
 * the question offers none.
 */
export function chooseOption(
  text: string,
  question: Question,
  sentences: readonly Sentence[],
): string | undefined {
  const options = readOptions(text);
  if (options !== undefined) return pickOption(text, question, sentences, options);
  return question.kind === 'yes-no' ? answerBoth(text, question, sentences) : undefined;
}

/** Reads the alternatives after the last comma, colon or "between": "..., the Pterocarya or the Cotula?". */
function readOptions(text: string): [string, string] | undefined {
  const match = /(?:[,:]| between )\s*([^,:?]{2,80}?),?\s+or\s+([^,:?]{2,80}?)\s*\??\s*$/.exec(
    text.slice(-220),
  );
  const [, left, right] = match ?? [];
  if (left === undefined || right === undefined) return undefined;
  return [left.trim().replace(/^(?:the|a|an)\s+/i, ''), right.trim().replace(/^(?:the|a|an)\s+/i, '')];
}

const YEAR = /\b(?:1\d{3}|20\d\d)\b/;
const COUNT = /\b\d{1,3}(?:,\d{3}){1,5}\b|\b\d+(?:\.\d+)?\b/;
const EARLIER = /\b(?:first|older|oldest|earlier|earliest|before|longer ago)\b/i;
const LATER = /\b(?:last|younger|youngest|later|latest|newer|recent|recently|after)\b/i;
const MORE = /\b(?:more|most|larger|largest|bigger|higher|highest|taller|longer|greater)\b/i;
const LESS = /\b(?:fewer|less|least|smaller|smallest|lower|shorter)\b/i;

function pickOption(
  text: string,
  question: Question,
  sentences: readonly Sentence[],
  options: [string, string],
): string {
  const left = sentences.filter((sentence) => isMentioned(sentence, options[0]));
  const right = sentences.filter((sentence) => isMentioned(sentence, options[1]));
  const leftYear = findFirstNumber(left, YEAR);
  const rightYear = findFirstNumber(right, YEAR);
  const leftCount = findFirstNumber(left, COUNT);
  const rightCount = findFirstNumber(right, COUNT);
  if (leftYear !== undefined && rightYear !== undefined && leftYear !== rightYear) {
    if (EARLIER.test(text)) return leftYear < rightYear ? options[0] : options[1];
    if (LATER.test(text)) return leftYear > rightYear ? options[0] : options[1];
  }
  if (leftCount !== undefined && rightCount !== undefined && leftCount !== rightCount) {
    if (MORE.test(text)) return leftCount > rightCount ? options[0] : options[1];
    if (LESS.test(text)) return leftCount < rightCount ? options[0] : options[1];
  }
  const topic = question.terms.filter((term) => !options.some((option) => listStems(option).has(term)));
  return measureCoverage(left, topic) >= measureCoverage(right, topic) ? options[0] : options[1];
}

/** Answers "Are A and B both N?" with yes when the sentences about each name cover half of the topic words. */
function answerBoth(text: string, question: Question, sentences: readonly Sentence[]): string | undefined {
  const topic = question.terms.filter((term) => !question.names.has(term));
  const names = [...question.names];
  if (!/\b(?:both|same|also|either)\b/i.test(text) || names.length < 2 || topic.length === 0)
    return undefined;
  const about = (name: string | undefined) =>
    sentences.filter(
      (sentence) => name !== undefined && listStems(`${sentence.heading ?? ''} ${sentence.text}`).has(name),
    );
  return Math.min(measureCoverage(about(names[0]), topic), measureCoverage(about(names.at(-1)), topic)) >= 0.5
    ? 'yes'
    : 'no';
}

function isMentioned(sentence: Sentence, option: string): boolean {
  const own = listStems(`${sentence.heading ?? ''} ${sentence.text}`);
  const words = splitWords(option).filter((word) => !isStopWord(word.lower));
  return words.length > 0 && words.every((word) => own.has(word.stem));
}

function findFirstNumber(sentences: readonly Sentence[], pattern: RegExp): number | undefined {
  for (const { text } of sentences) {
    const found = pattern.exec(text)?.[0];
    if (found !== undefined) return Number(found.replaceAll(',', ''));
  }
  return undefined;
}

function measureCoverage(sentences: readonly Sentence[], topic: readonly string[]): number {
  const own = listStems(sentences.map(({ text }) => text).join(' '));
  return topic.filter((term) => own.has(term)).length / Math.max(1, topic.length);
}
