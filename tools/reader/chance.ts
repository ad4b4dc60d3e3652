// The chance that an answer is right. Its share of the softmax says how far it is ahead of the other spans of the text,
// but not whether the text is about what is asked: a logistic regression (after Platt 1999) takes both into account.
import { type AnswerKind, findAnswerKind, listValues } from './answer-kinds.ts';
import type { Sentence } from './features/sentence-schema.ts';
import { stemWord } from './language/stem.ts';
import { compareRows, findWordRow } from './language/vectors.ts';
import { SIGN, splitWords, type Word } from './language/words.ts';
import type { Question } from './question.ts';

/** An answer with what its chance depends on. */
export interface RankedAnswer {
  readonly answer: string;
  /** The sentence that holds it. */
  readonly sentence: Sentence | undefined;
  /** Its share of the softmax over all candidates, and that of its strongest rival. */
  readonly share: number;
  readonly rival: number;
}

/**
 * Weights of the factors, by `npm run lab:train -- chance`: fitted on the three best answers to each question of
 * dev_large.jsonl.gz, to every third of them also asked of the paragraph after its own, which does not answer it.
 */
const WEIGHTS: readonly number[] = [
  -2.335, 1.266, -0.319, 0.903, 2.18, -1.196, -1.079, -0.853, -0.313, -0.495, -1.002,
];

/**
 * Chance below which the reader refuses in running text. A higher one would refuse more questions without an answer, and
 * lose right ones: of dev.jsonl 40.2 % are right without refusals, 40.1 % with this one, 39.6 % with 0.05.
 */
export const MIN_CHANCE = 0.03;
/**
 * The same for texts of short lines, such as records, lists and minutes. The weights come from paragraphs of
 * encyclopedias, and promise too much there.
 */
const MIN_CHANCE_IN_LINES = 0.3;
/** Chooses the chance below which the reader refuses, by the text that the sentences are from. */
export function chooseMinChance(sentences: readonly Sentence[]): number {
  return sentences.some(({ inLines }) => inLines) ? MIN_CHANCE_IN_LINES : MIN_CHANCE;
}

const LEAST = 1e-3;
const MAX_NAMES = 3;

/** Prepares what the answers to one question share. */
export function createChance(
  question: Question,
  sentences: readonly Sentence[],
): (answer: RankedAnswer) => number {
  const facts = viewAsked(question, sentences);
  return (answer) => {
    const sum = computeChanceFactors(facts, answer).reduce(
      (total, factor, at) => total + factor * (WEIGHTS[at] ?? 0),
      0,
    );
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
  /** True if what is to be counted is mentioned nowhere. */
  readonly isUncounted: boolean;
}

export function viewAsked(question: Question, sentences: readonly Sentence[]): Asked {
  const words = sentences.flatMap((sentence) => splitWords(joinHeading(sentence)));
  const stems = new Set(words.map(({ stem }) => stem));
  const kind = findAnswerKind(question);
  const exact = kind?.holds === 'exact' ? kind : undefined;
  const counted = question.kind === 'count' ? stemWord(question.focus) : '';
  return {
    question,
    kind: exact,
    coverage: measureCoverage(question, words, false),
    coverageOfRest: measureCoverage(question, words, true),
    isUncounted:
      counted !== '' && measureCoverage({ ...question, terms: [counted] }, words, exact !== undefined) === 0,
    missing: [...question.names].filter((name) => !stems.has(name)).length,
  };
}

export function computeChanceFactors(
  { question, kind, coverage, coverageOfRest, missing, isUncounted }: Asked,
  { answer, sentence, share, rival }: RankedAnswer,
): number[] {
  const words = splitWords(answer);
  const isMet = kind !== undefined && listValues(kind, answer).length > 0;
  return [
    1,
    computeLogit(share),
    computeLogit(share) - computeLogit(rival),
    sentence === undefined ? 0 : measureCoverage(question, splitWords(joinHeading(sentence)), isMet),
    isMet ? coverageOfRest : coverage,
    Math.min(MAX_NAMES, missing) / MAX_NAMES,
    kind !== undefined && !isMet ? 1 : 0,
    isMet ? 1 : 0,
    words.filter((word) => question.terms.includes(word.stem)).length / Math.max(1, words.length),
    question.kind === 'why' || question.kind === 'how' ? 1 : 0,
    isUncounted ? 1 : 0,
  ];
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
