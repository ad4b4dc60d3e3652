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
/** Words behind a number among which the counted noun stands: "12 small wooden boats". */
const COUNTED_REACH = 4;
/** Hundredths of a logit of the sentence's rank that count as one unit. */
const SCORE_UNIT = 500;

/** Prepares what the answers to one question share. */
export function createChance(
  question: Question,
  sentences: readonly Sentence[],
): (answer: RankedAnswer) => number {
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
