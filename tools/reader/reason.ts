// Step 4: chooses the triple that answers the question.

import { z } from 'zod';
import { type AnswerKind, findAnswerKind, listValues } from './answer-kinds.ts';
import type { Sentence } from './features/sentence-schema.ts';
import { computeTripleFeatures, TOTAL_FEATURE } from './features/triple-features.ts';
import type { TripleSet } from './features/triple-schema.ts';
import { answerYesNo } from './features/yes-no.ts';
import { stemWord } from './language/stem.ts';
import { compareRows, findWordRow } from './language/vectors.ts';
import { isStopWord, listStems, SIGN, splitWords, type Word } from './language/words.ts';
import { parseQuestion, type Question } from './question.ts';
import { type Forest, loadForest, scoreForest } from './trees.ts';

// Answers questions whose answer is not in the text: "Are both ...?" and "Which is older, A or B?".

/**
 * Returns one of the question's own alternatives, or "yes" or "no" where it asks for two things at once; undefined when
 * the question offers none.
 */
function chooseOption(text: string, question: Question, sentences: readonly Sentence[]): string | undefined {
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
  return measureOptionCoverage(left, topic) >= measureOptionCoverage(right, topic) ? options[0] : options[1];
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
  return Math.min(
    measureOptionCoverage(about(names[0]), topic),
    measureOptionCoverage(about(names.at(-1)), topic),
  ) >= 0.5
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

function measureOptionCoverage(sentences: readonly Sentence[], topic: readonly string[]): number {
  const own = listStems(sentences.map(({ text }) => text).join(' '));
  return topic.filter((term) => own.has(term)).length / Math.max(1, topic.length);
}

// The chance that an answer is right. Its share of the softmax says how far it is ahead of the other spans of the text,
// but not whether the text is about what is asked: a logistic regression (after Platt 1999) takes both into account.

/** An answer with what its chance depends on. */
interface RankedAnswer {
  readonly answer: string;
  /** The sentence that holds it. */
  readonly sentence: Sentence | undefined;
  /** Its share of the softmax over all candidates, and that of its strongest rival. */
  readonly share: number;
  readonly rival: number;
}

/**
 * Weights of the factors for answers of the kind that is asked for and for all others, by `npm run lab:train -- chance`:
 * fitted on the three best answers to each question of dev_large.jsonl.gz. A third of them is also asked of the paragraph
 * after its own, and a third of its own without the sentences that have the answer.
 */
const WEIGHTS = {
  met: [-3.919, 0.441, -0.02, 1.502, 1.034, -1.384, 0.0, -0.466, -2.03, -1.175, 1.461],
  other: [-2.881, 1.26, -0.315, 0.339, 2.641, -1.235, -1.36, -0.394, -0.412, -6.666, 0.792],
} as const;

/**
 * Chance below which the reader refuses in running text. A higher one would refuse more questions without an answer, and
 * lose right ones: of dev.jsonl 40.4 % are right without refusals, 40.3 % with this one, 39.8 % with 0.04.
 */
export const MIN_CHANCE = 0.02;
/**
 * The minimum chance in texts of short lines, such as records, lists and minutes. The weights come from paragraphs of
 * encyclopedias, and promise too much there.
 */
const MIN_CHANCE_IN_LINES = 0.3;
/** Chooses the chance below which the reader refuses, by the text that the sentences are from. */
export function chooseMinChance(sentences: readonly Sentence[]): number {
  return sentences.some(({ inLines }) => inLines) ? MIN_CHANCE_IN_LINES : MIN_CHANCE;
}

const LEAST = 1e-3;
const MAX_NAMES = 3;
/** Words behind a number among which the counted noun stands: "12 small wooden boats". */
const COUNTED_REACH = 4;
/** Hundredths of a logit of the sentence's rank that count as one unit. */
const SCORE_UNIT = 500;

/** Prepares what the answers to one question share. */
function createChance(question: Question, sentences: readonly Sentence[]): (answer: RankedAnswer) => number {
  const facts = viewAsked(question, sentences);
  return (answer) => {
    const { isMet, factors } = computeChanceFactors(facts, answer);
    const weights = isMet ? WEIGHTS.met : WEIGHTS.other;
    const sum = factors.reduce((total, factor, at) => total + factor * (weights[at] ?? 0), 0);
    // A text without a word like any of the question's is about something else.
    return facts.coverage === 0 ? 0 : 1 / (1 + Math.exp(-sum));
  };
}

interface Asked {
  readonly question: Question;
  readonly kind: AnswerKind | undefined;
  /** Share of the question's terms in the sentences, and number of its names that are in none. */
  readonly coverage: number;
  /** This share without the terms that name the kind. */
  readonly coverageOfRest: number;
  readonly missing: number;
  /** Stem of what is to be counted; '' if nothing is. */
  readonly counted: string;
}

export function viewAsked(question: Question, sentences: readonly Sentence[]): Asked {
  const words = sentences.flatMap((sentence) => splitWords(joinHeading(sentence)));
  const stems = new Set(words.map(({ stem }) => stem));
  const kind = findAnswerKind(question);
  return {
    question,
    kind: kind?.holds === 'exact' ? kind : undefined,
    coverage: measureCoverage(question, words, false),
    coverageOfRest: measureCoverage(question, words, true),
    missing: [...question.names].filter((name) => !stems.has(name)).length,
    counted: question.kind === 'count' ? stemWord(question.focus) : '',
  };
}

/** Returns what the chance of an answer depends on, and whether the answer is of the kind that is asked for. */
export function computeChanceFactors(
  { question, kind, coverage, coverageOfRest, missing, counted }: Asked,
  { answer, sentence, share, rival }: RankedAnswer,
): { readonly isMet: boolean; readonly factors: number[] } {
  const words = splitWords(answer);
  const isMet = kind !== undefined && listValues(kind, answer).length > 0;
  const own = sentence === undefined ? [] : splitWords(joinHeading(sentence));
  const factors = [
    1,
    computeLogit(share),
    computeLogit(share) - computeLogit(rival),
    measureCoverage(question, own, isMet),
    isMet ? coverageOfRest : coverage,
    Math.min(MAX_NAMES, missing) / MAX_NAMES,
    kind !== undefined && !isMet ? 1 : 0,
    words.filter((word) => question.terms.includes(word.stem)).length / Math.max(1, words.length),
    question.kind === 'why' || question.kind === 'how' ? 1 : 0,
    counted === '' ? 0 : 1 - measureNearness(counted, answer, sentence?.text ?? '', own),
    (sentence?.score ?? 0) / SCORE_UNIT,
  ];
  return { isMet, factors };
}

/** Returns 1 if what is to be counted follows the number, 0.5 if it stands elsewhere in the sentence, else 0. */
function measureNearness(counted: string, answer: string, text: string, own: readonly Word[]): number {
  const place = text.indexOf(answer);
  const end = splitWords(text.slice(place + answer.length)).slice(0, COUNTED_REACH);
  if (
    splitWords(answer)
      .concat(end)
      .some(({ stem }) => stem === counted)
  )
    return 1;
  return own.some(({ stem }) => stem === counted) ? 0.5 : 0;
}

function joinHeading({ heading = '', text }: Sentence): string {
  return `${heading} ${text}`;
}

/** Stems of words that name a kind of answer: a text with a phone number need not call it one. */
const NAMES_OF_KINDS =
  'temperature degrees phone telephone number cost costs price fee amount sum money percentage percent year date day time mail ' +
  'address duration long reason';
let kindStems: ReadonlySet<string> | undefined;

/** Least likeness of two words, as the cosine of their vectors, at which one may stand for the other. */
const MIN_LIKENESS = 0.5;

/** Measures the share of the question's terms in a text; a word of like meaning counts by its likeness. */
function measureCoverage(
  { terms: all, words: asked }: Question,
  words: readonly Word[],
  isMet: boolean,
): number {
  kindStems ??= new Set(NAMES_OF_KINDS.split(' ').map(stemWord));
  const terms = isMet ? all.filter((term) => kindStems?.has(term) !== true) : all;
  if (terms.length === 0) return 1;
  const stems = new Set(words.map(({ stem }) => stem));
  const rows = words
    .filter(({ signs }) => (signs & (SIGN.stop | SIGN.digit)) === 0)
    .map(({ lower }) => findWordRow(lower));
  const sum = terms.reduce((total, term) => {
    if (stems.has(term)) return total + 1;
    const row = findWordRow(asked.find(({ stem }) => stem === term)?.lower ?? '');
    const likeness = row < 0 ? 0 : Math.max(0, ...rows.map((other) => compareRows(row, other)));
    return total + (likeness >= MIN_LIKENESS ? likeness : 0);
  }, 0);
  return sum / terms.length;
}

function computeLogit(share: number): number {
  const bounded = Math.min(1 - LEAST, Math.max(LEAST, share));
  return Math.log(bounded / (1 - bounded));
}

/** An answer: '' only when there were no triples; `evidence` is the sentence that holds it. */
export const answerSchema = z.strictObject({
  answer: z.string().max(1_000),
  evidence: z.string().max(1_000),
  /** The line of the document in which the evidence begins. */
  line: z.exactOptional(z.int().min(1).max(100_000_000)),
  /** The chance that the answer is right. */
  confidence: z.number().min(0).max(1),
});
type Answer = z.infer<typeof answerSchema>;

let forest: Forest | undefined;

/** Ranks the proposed answers, the most likely first, each once; `most` bounds their number. */
export function rankAnswers(question: string, set: TripleSet, most = Number.POSITIVE_INFINITY): Answer[] {
  const parsed = parseQuestion(question);
  const computeChance = createChance(parsed, set.sentences);
  const ranked = rankShares(parsed, set)
    .slice(0, most)
    .map((one): Answer => toAnswer(one.answer, one.sentence, computeChance(one)));
  const option = chooseOption(question, parsed, set.sentences);
  const [best] = ranked;
  if (option !== undefined && best !== undefined) return [{ ...best, answer: option }];
  if (parsed.kind !== 'yes-no') return ranked;
  const agreed = answerYesNo(parsed, set.sentences);
  if (agreed === undefined) return ranked.map((one) => ({ ...one, confidence: 0 }));
  const { answer, sentence, chance } = agreed;
  return [toAnswer(answer, sentence, chance)];
}

function toAnswer(answer: string, sentence: Sentence | undefined, chance: number): Answer {
  const own = { answer, evidence: sentence?.text ?? '', confidence: Math.round(1000 * chance) / 1000 };
  return sentence?.line === undefined ? own : { ...own, line: sentence.line };
}

/** Matches what a program says of its messages, which answers no question about their content. */
const LOG_LEVEL = /^(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL)$/;

/** Ranks the answers by the trained trees, each with its share of the softmax over all. */
export function rankShares(question: Question, set: TripleSet): RankedAnswer[] {
  forest ??= loadForest(new URL('./weights/answers.bin', import.meta.url));
  const ranker = forest;
  const scores = computeTripleFeatures(question, set).map(
    (row) => (row[TOTAL_FEATURE] ?? 0) + scoreForest(ranker, row),
  );
  const order = [...set.triples.keys()].sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || a - b);
  const top = scores[order[0] ?? 0] ?? 0;
  const sum = scores.reduce((total, score) => total + Math.exp(score - top), 0);
  const answers = new Map<string, Omit<RankedAnswer, 'rival'>>();
  for (const at of order) {
    const { object = '', sentence = 0 } = set.triples[at] ?? {};
    if (answers.has(object) || LOG_LEVEL.test(object)) continue;
    const share = Math.exp((scores[at] ?? 0) - top) / sum;
    answers.set(object, { answer: object, sentence: set.sentences[sentence], share });
  }
  const ranked = [...answers.values()];
  return ranked.map((one, at) => ({ ...one, rival: ranked[at === 0 ? 1 : 0]?.share ?? 0 }));
}

/** Explains why an answer is not given: it is not sure enough, and this is the sentence that comes closest. */
export function explainUnsure(question: string, { evidence, line }: Answer): string {
  const kind = findAnswerKind(parseQuestion(question));
  const isMissing = kind?.holds === 'exact' && listValues(kind, evidence).length === 0;
  const where = line === undefined ? '' : `line ${line}: `;
  return `Not sure. Closest: ${where}“${evidence}”${isMissing ? `, which names no ${kind.name}` : ''}`;
}

export function chooseAnswer(question: string, set: TripleSet): Answer {
  return rankAnswers(question, set, 1)[0] ?? { answer: '', evidence: '', confidence: 0 };
}
