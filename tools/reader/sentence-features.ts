import type { Question } from './question.ts';
import { rowSimilarity, wordRow } from './vectors.ts';
import { isCapital, isStopWord, type Word } from './words.ts';

/** A sentence as the ranker sees it: its words and where it stands. */
export type SentenceView = {
  text: string;
  words: readonly Word[];
  headingStems: ReadonlySet<string>;
  /** Place in its passage, counted from the last heading. */
  position: number;
  isHeading: boolean;
};

const KINDS = ['who', 'when', 'where', 'count', 'amount', 'degree', 'how', 'why', 'what', 'yes-no', 'other'];
const MONTH = /^(?:january|february|march|april|may|june|july|august|september|october|november|december)$/;

/** Features of every sentence for one question, in the order the trained ranker expects. */
export function sentenceFeatures(question: Question, views: readonly SentenceView[]): number[][] {
  const idf = inverseFrequencies(question, views);
  const total = question.terms.reduce((sum, term) => sum + (idf.get(term) ?? 0), 0) || 1;
  const termRows = question.terms.map((term) => topicRow(question, term));
  const stems = views.map((view) => new Set(view.words.map((word) => word.stem)));
  const covered = stems.map(
    (set) => sumOf(question.terms, (term) => (set.has(term) ? (idf.get(term) ?? 0) : 0)) / total,
  );
  const best = Math.max(...covered, 0);
  const focusRow = question.focus === '' ? -1 : wordRow(question.focus);

  return views.map((view, index) => {
    const own = stems[index] ?? new Set<string>();
    const cover = covered[index] ?? 0;
    const before = stems[index - 1];
    const after = stems[index + 1];
    const rows = view.words.map((word) => (isStopWord(word.lower) ? -1 : wordRow(word.lower)));
    const nearby = (set: ReadonlySet<string> | undefined) =>
      sumOf(question.terms, (term) => (!own.has(term) && set?.has(term) ? (idf.get(term) ?? 0) : 0)) / total;
    const shape = answerShapes(question, view);
    return [
      KINDS.indexOf(question.kind),
      question.terms.length,
      views.length,
      cover,
      cover - best,
      sumOf(question.terms, (term) => (own.has(term) ? 1 : 0)),
      Math.max(0, ...question.terms.map((term) => (own.has(term) ? (idf.get(term) ?? 0) : 0))),
      sumOf([...question.names], (term) => (own.has(term) ? (idf.get(term) ?? 0) : 0)) / total,
      question.names.size,
      bigramMatches(question, view),
      longestRun(question, view),
      nearby(before),
      nearby(after),
      nearby(view.headingStems),
      softCover(question, termRows, own, rows, idf) / total,
      Math.max(
        0,
        ...rows.map((row, at) =>
          view.words[at]?.lower === question.focus ? 0 : rowSimilarity(focusRow, row),
        ),
      ),
      view.words.some((word) => word.lower === question.focus) ? 1 : 0,
      question.verb !== '' && own.has(question.verb) ? 1 : 0,
      tightness(question, view),
      shape.names,
      shape.numbers,
      shape.years,
      shape.dates,
      shape.fresh,
      /\b(?:because|due to|so that|in order|since|therefore|caused?|result)/i.test(view.text) ? 1 : 0,
      /["“«(]/.test(view.text) ? 1 : 0,
      view.words.length,
      view.position,
      view.isHeading ? 1 : 0,
      foreignNumbers(question, view),
    ];
  });
}

function sumOf<T>(items: readonly T[], value: (item: T) => number): number {
  let sum = 0;
  for (const item of items) sum += value(item);
  return sum;
}

function inverseFrequencies(question: Question, views: readonly SentenceView[]): Map<string, number> {
  const counts = new Map(question.terms.map((term) => [term, 0]));
  for (const view of views) {
    for (const stem of new Set(view.words.map((word) => word.stem))) {
      const count = counts.get(stem);
      if (count !== undefined) counts.set(stem, count + 1);
    }
  }
  return new Map(
    [...counts].map(([term, count]) => [term, Math.log(1 + (views.length + 1) / (count + 0.5))]),
  );
}

function topicRow(question: Question, term: string): number {
  const word = question.words.find((candidate) => candidate.stem === term);
  return word === undefined ? -1 : wordRow(word.lower);
}

/** How many neighbouring word pairs of the question stand together in the sentence. */
function bigramMatches(question: Question, view: SentenceView): number {
  const pairs = new Set<string>();
  for (const [index, word] of view.words.entries())
    pairs.add(`${word.stem} ${view.words[index + 1]?.stem ?? ''}`);
  let matches = 0;
  for (const [index, word] of question.words.entries()) {
    const next = question.words[index + 1];
    if (next === undefined || (isStopWord(word.lower) && isStopWord(next.lower))) continue;
    if (pairs.has(`${word.stem} ${next.stem}`)) matches++;
  }
  return matches;
}

/** Length of the longest run of words the question and the sentence share. */
function longestRun(question: Question, view: SentenceView): number {
  let longest = 0;
  let previous = new Int32Array(view.words.length + 1);
  for (const word of question.words) {
    const current = new Int32Array(view.words.length + 1);
    for (const [index, other] of view.words.entries()) {
      if (word.stem !== other.stem) continue;
      const run = (previous[index] ?? 0) + 1;
      current[index + 1] = run;
      if (run > longest) longest = run;
    }
    previous = current;
  }
  return longest;
}

/** Coverage that lets a near synonym stand for a missing topic word. */
function softCover(
  question: Question,
  termRows: readonly number[],
  own: ReadonlySet<string>,
  rows: readonly number[],
  idf: ReadonlyMap<string, number>,
): number {
  let sum = 0;
  for (const [index, term] of question.terms.entries()) {
    const weight = idf.get(term) ?? 0;
    if (own.has(term)) {
      sum += weight;
      continue;
    }
    let best = 0;
    for (const row of rows) best = Math.max(best, rowSimilarity(termRows[index] ?? -1, row));
    sum += weight * best;
  }
  return sum;
}

/** Words between the first and the last matched topic word, for each match; small is good. */
function tightness(question: Question, view: SentenceView): number {
  const terms = new Set(question.terms);
  const hits = view.words.flatMap((word, index) => (terms.has(word.stem) ? [index] : []));
  return hits.length < 2 ? 0 : ((hits.at(-1) ?? 0) - (hits[0] ?? 0)) / hits.length;
}

function answerShapes(question: Question, view: SentenceView) {
  const asked = new Set(question.words.map((word) => word.stem));
  const shapes = { names: 0, numbers: 0, years: 0, dates: 0, fresh: 0 };
  for (const [index, word] of view.words.entries()) {
    if (asked.has(word.stem)) continue;
    if (!isStopWord(word.lower)) shapes.fresh++;
    if (/^\d/.test(word.text)) shapes.numbers++;
    if (/^1\d{3}$|^20\d\d$/.test(word.text)) shapes.years++;
    if (MONTH.test(word.lower)) shapes.dates++;
    if (isCapital(word.text) && index > 0) shapes.names++;
  }
  return shapes;
}

/** Numbers the question holds and the sentence does not: another year is another event. */
function foreignNumbers(question: Question, view: SentenceView): number {
  const own = new Set(view.words.map((word) => word.lower));
  return question.words.filter((word) => /^\d/.test(word.lower) && !own.has(word.lower)).length;
}
