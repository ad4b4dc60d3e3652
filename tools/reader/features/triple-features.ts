import { compareRows, findWordRow } from '../language/vectors.ts';
import { listStems, SIGN, splitWords, type Word } from '../language/words.ts';
import { type Question, toKindNumber } from '../question.ts';
import type { Sentence } from './sentence-schema.ts';
import type { Triple, TripleSet } from './triple-schema.ts';

const MONTH = /\b(?:January|February|March|April|May|June|July|August|September|October|November|December)\b/;
const NUMERAL =
  /\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand|million|billion|half|twenty|thirty)\b/i;

/** Facts that all triples of one sentence share. */
type SentenceView = {
  words: readonly Word[];
  headingStems: ReadonlySet<string>;
  hasFocus: boolean;
  /** Number of the question's terms in the sentence, and of those that only its heading holds. */
  terms: number;
  headingTerms: number;
};

const NO_SENTENCE: SentenceView = {
  words: [],
  headingStems: new Set(),
  hasFocus: false,
  terms: 0,
  headingTerms: 0,
};

type Marks = { open: number; close: number };

/** Index of step 3's own score, in logits, among the features: the re-ranker corrects it. */
export const TOTAL_FEATURE = 1;

/** Computes the features of every triple for one question, in the order that the trained re-ranker expects. */
export function computeTripleFeatures(question: Question, set: TripleSet): number[][] {
  const asked = new Set(question.terms);
  const totals = set.triples.map(({ scores }) => scores.reduce((sum, score) => sum + score, 0) / 100);
  const best = Math.max(...totals);
  const masses = totals.map((total) => Math.exp(total - best));
  const sum = masses.reduce((a, b) => a + b, 0);
  const shares = masses.map((mass) => mass / sum);
  const groupBest = [0, 1, 2, 3, 4, 5].map((group) =>
    Math.max(...set.triples.map(({ scores }) => scores[group] ?? 0)),
  );
  const sentences = set.sentences.map((sentence) => viewSentence(question, sentence));
  const topScore = set.sentences[0]?.score ?? 0;
  const objectWords = set.triples.map(({ object }) => splitWords(object));
  const forms = set.triples.map(({ object }, index) => classifyForm(object, objectWords[index] ?? []));
  const focusRow = question.focus === '' ? -1 : findWordRow(question.focus);
  const kind = toKindNumber(question);
  const allText = set.sentences.map(({ text }) => text.toLowerCase()).join('\n');

  return set.triples.map((triple, index) => {
    const total = totals[index] ?? 0;
    const words = objectWords[index] ?? [];
    const sentence = set.sentences[triple.sentence];
    const view = sentences[triple.sentence] ?? NO_SENTENCE;
    const around = view.words;
    const near = measureDistances(triple, around, asked);
    const rivals = compareOverlaps(set.triples, index, shares);
    const marks = readMarks(triple, sentence?.text ?? '');
    const known = words.filter((word) => asked.has(word.stem)).length;
    const head = words.findLast((word) => (word.signs & SIGN.stop) === 0);
    return [
      kind,
      total,
      total - best,
      index,
      shares[index] ?? 0,
      ...triple.scores.map((score) => score / 100),
      ...triple.scores.map((score, group) => (score - (groupBest[group] ?? 0)) / 100),
      triple.sentence,
      ((sentence?.score ?? 0) - topScore) / 100,
      sumWhere(shares, (_, other) => set.triples[other]?.sentence === triple.sentence),
      sumWhere(shares, (_, other) => forms[other] === forms[index]),
      forms[index] ?? 0,
      words.length,
      triple.object.length,
      words.filter((word) => (word.signs & SIGN.capital) !== 0).length,
      known,
      words.length - known,
      ...rivals,
      near.left,
      near.right,
      Math.min(near.left, near.right),
      triple.start / Math.max(1, sentence?.text.length ?? 1),
      triple.start === 0 ? 1 : 0,
      marks.open,
      marks.close,
      classifyContinuation(around, triple),
      countOccurrences(allText, triple.object.toLowerCase()),
      words.some((word) => word.lower === question.focus) ? 1 : 0,
      compareRows(focusRow, head === undefined ? -1 : findWordRow(head.lower)),
      view.hasFocus ? 1 : 0,
      view.terms / Math.max(1, question.terms.length),
      view.headingTerms,
      question.terms.length,
      words[0] !== undefined && (words[0].signs & SIGN.stop) !== 0 ? 1 : 0,
      words.length > 0 && words.every((word) => view.headingStems.has(word.stem)) ? 1 : 0,
      triple.relation.startsWith('~') ? 1 : 0,
      question.verb !== '' && splitWords(triple.relation).some((word) => word.stem === question.verb) ? 1 : 0,
      splitWords(triple.subject).filter((word) => asked.has(word.stem)).length,
      set.triples.length,
    ];
  });
}

function viewSentence(question: Question, { text, heading }: Sentence): SentenceView {
  const words = splitWords(text);
  const stems = new Set(words.map((word) => word.stem));
  const headingStems = listStems(heading ?? '');
  return {
    words,
    headingStems,
    hasFocus: question.focus !== '' && words.some((word) => word.lower === question.focus),
    terms: question.terms.filter((term) => stems.has(term)).length,
    headingTerms: question.terms.filter((term) => !stems.has(term) && headingStems.has(term)).length,
  };
}

/** Returns a small number for the look of an answer: date, year, amount, name, phrase ... */
function classifyForm(object: string, words: readonly Word[]): number {
  const capitals = words.filter((word) => (word.signs & SIGN.capital) !== 0).length;
  if (MONTH.test(object)) return 1;
  if (/[$£€%]|percent|million|billion/.test(object)) return 2;
  if (/\b(?:1\d{3}|20\d\d)\b/.test(object)) return 3;
  if (/\d/.test(object)) return words.length > 1 ? 4 : 5;
  if (NUMERAL.test(object)) return 6;
  const plain = words.filter((word) => (word.signs & SIGN.stop) === 0).length;
  if (capitals >= plain && plain > 0) return words.length > 4 ? 8 : 7;
  if (capitals > 0) return 9;
  if (words.length > 4) return 10;
  return words.length > 1 ? 11 : 12;
}

function sumWhere(values: readonly number[], test: (value: number, index: number) => boolean): number {
  let sum = 0;
  for (const [index, value] of values.entries()) if (test(value, index)) sum += value;
  return sum;
}

/** Measures the words between the object and the nearest question word on each side; 20 when there is none. */
function measureDistances(
  triple: Triple,
  words: readonly Word[],
  asked: ReadonlySet<string>,
): { left: number; right: number } {
  const end = triple.start + triple.object.length;
  const first = words.findIndex((word) => word.start >= triple.start);
  const after = words.findIndex((word) => word.start >= end);
  let left = 20;
  let right = 20;
  for (let at = first - 1, step = 1; at >= 0 && step < 20; at--, step++) {
    if (!asked.has(words[at]?.stem ?? '')) continue;
    left = step;
    break;
  }
  for (let at = after, step = 1; at >= 0 && at < words.length && step < 20; at++, step++) {
    if (!asked.has(words[at]?.stem ?? '')) continue;
    right = step;
    break;
  }
  return { left, right };
}

/**
 * Compares the candidate with those that it overlaps in the same sentence: sums and largest of their shares, by whether
 * they lie inside it, around it, across its edge or begin with it.
 */
function compareOverlaps(triples: readonly Triple[], index: number, shares: readonly number[]): number[] {
  const own = triples[index];
  if (own === undefined) return [0, 0, 0, 0, 0, 0];
  const from = own.start;
  const to = from + own.object.length;
  let inside = 0;
  let outside = 0;
  let crossing = 0;
  let bestInside = 0;
  let bestOutside = 0;
  let sameStart = 0;
  for (const [at, other] of triples.entries()) {
    if (at === index || other.sentence !== own.sentence) continue;
    const start = other.start;
    const end = start + other.object.length;
    const share = shares[at] ?? 0;
    if (start >= from && end <= to) {
      inside += share;
      bestInside = Math.max(bestInside, share);
    } else if (start <= from && end >= to) {
      outside += share;
      bestOutside = Math.max(bestOutside, share);
    } else if (start < to && end > from) crossing += share;
    if (start === from) sameStart += share;
  }
  return [inside, outside, crossing, bestInside, bestOutside, sameStart];
}

const OPENERS = ' ,("“\'—–-:;';
function readMarks(triple: Triple, text: string): Marks {
  const before = text.slice(0, triple.start).trimEnd().at(-1) ?? '^';
  const after =
    text
      .slice(triple.start + triple.object.length)
      .trimStart()
      .at(0) ?? '^';
  return {
    open: /[\p{L}\p{N}]/u.test(before) ? -1 : OPENERS.indexOf(before) + 1,
    close: /[\p{L}\p{N}]/u.test(after) ? -1 : ',.;:)"”?!-'.indexOf(after) + 1,
  };
}

/** Returns 1 when a capitalised word touches the object before it, 2 after it, 3 on both sides, else 0. */
function classifyContinuation(words: readonly Word[], triple: Triple): number {
  const end = triple.start + triple.object.length;
  const before = words.findLast((word) => word.end <= triple.start);
  const after = words.find((word) => word.start >= end);
  const near = (word: Word | undefined, gap: number): boolean =>
    word !== undefined && gap <= 1 && (word.signs & SIGN.capital) !== 0;
  return (
    (near(before, triple.start - (before?.end ?? 0)) ? 1 : 0) +
    (near(after, (after?.start ?? 0) - end) ? 2 : 0)
  );
}

function countOccurrences(text: string, wanted: string): number {
  let count = 0;
  for (let at = text.indexOf(wanted); at >= 0 && count < 9; at = text.indexOf(wanted, at + wanted.length))
    count++;
  return count;
}
