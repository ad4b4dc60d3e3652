import { compareWithAll, findWordRow } from '../language/vectors.ts';
import { SIGN, splitWords, type Word } from '../language/words.ts';
import { type Question, toKindNumber } from '../question.ts';
import { rememberTexts } from '../remember.ts';

/** A sentence as the ranker sees it: its words and its position. */
export type SentenceView = {
  text: string;
  words: readonly Word[];
  headingStems: ReadonlySet<string>;
  /** Position in its passage, counted from the last heading. */
  position: number;
  isHeading: boolean;
};

/** The question with its distinct stems numbered, so that sentences are compared with it by numbers. */
type QuestionTerms = {
  question: Question;
  /** Number of each stem of the question. */
  numbers: ReadonlyMap<string, number>;
  /** Numbers of the question's words, its terms and its names, in order. */
  words: Int32Array;
  terms: Int32Array;
  names: Int32Array;
  /** Neighbouring word pairs that are not both function words; each is left number × stems + right number. */
  pairs: number[];
  /** Likeness of each topic word of the sentences to each term, and to the class that the question names. */
  termLikeness: readonly Float64Array[];
  focusLikeness: Float64Array;
  /** Weight of each term, and the sum of the weights. */
  idf: Float64Array;
  total: number;
};

/**
 * The question's stems in one sentence: `words` has the number of each word, -1 for others; `holds` has 1 for each
 * number found.
 */
type Match = { words: Int32Array; holds: Uint8Array };

const REASONS = /\b(?:because|due to|so that|in order|since|therefore|caused?|result)/i;
const ASIDES = /["“«(]/;

/** Facts about a sentence that all questions share. */
const recallFacts = rememberTexts((text) => ({
  /** Rows of its topic words in the vectors, each once. */
  rows: Int32Array.from(
    new Set(
      splitWords(text)
        .map(({ signs, lower }) => ((signs & SIGN.stop) === 0 ? findWordRow(lower) : -1))
        .filter((row) => row >= 0),
    ),
  ),
  reasons: REASONS.test(text) ? 1 : 0,
  asides: ASIDES.test(text) ? 1 : 0,
}));

type SharedFacts = ReturnType<typeof recallFacts>;

/** Returns the distinct rows of all sentences, and for each row of a sentence its place among them. */
function placeRows(facts: readonly SharedFacts[]): { rows: Int32Array; places: readonly Int32Array[] } {
  const numbers = new Map<number, number>();
  const places = facts.map(({ rows }) =>
    rows.map((row) => {
      const known = numbers.get(row);
      if (known !== undefined) return known;
      numbers.set(row, numbers.size);
      return numbers.size - 1;
    }),
  );
  return { rows: Int32Array.from(numbers.keys()), places };
}

/** Computes the features of every sentence for one question, in the order that the trained ranker expects. */
export function computeSentenceFeatures(question: Question, views: readonly SentenceView[]): number[][] {
  const numbers = mapStems(question);
  const matches = views.map((view) => matchWords(view, numbers));
  const facts = views.map(({ text }) => recallFacts(text));
  const { rows, places } = placeRows(facts);
  const asked = weighQuestion(question, { numbers, matches, rows });
  const { idf, total, terms } = asked;
  const covered = matches.map(({ holds }) => sumHeld(terms, holds, idf) / total);
  const best = Math.max(...covered, 0);
  const kind = toKindNumber(question);

  return views.map((view, index) => {
    const match = matches[index] ?? { words: new Int32Array(), holds: new Uint8Array() };
    const { holds } = match;
    const cover = covered[index] ?? 0;
    const own = places[index] ?? new Int32Array();
    const shape = answerShapes(view, match);
    return [
      kind,
      question.terms.length,
      views.length,
      cover,
      cover - best,
      countHeld(terms, holds),
      findLargestHeld(terms, holds, idf),
      sumHeld(asked.names, holds, idf) / total,
      question.names.size,
      countBigramMatches(asked, match),
      measureLongestRun(asked, match),
      sumNearby(asked, holds, matches[index - 1]?.holds),
      sumNearby(asked, holds, matches[index + 1]?.holds),
      sumHeading(asked, holds, view.headingStems),
      measureSoftCover(asked, holds, own) / total,
      findLargest(asked.focusLikeness, own),
      view.words.some((word) => word.lower === question.focus) ? 1 : 0,
      question.verb !== '' && holds[numbers.get(question.verb) ?? -1] === 1 ? 1 : 0,
      measureTightness(asked, match),
      shape.names,
      shape.numbers,
      shape.years,
      shape.dates,
      shape.fresh,
      facts[index]?.reasons ?? 0,
      facts[index]?.asides ?? 0,
      view.words.length,
      view.position,
      view.isHeading ? 1 : 0,
      countForeignNumbers(question, view),
    ];
  });
}

function mapStems({ words }: Question): Map<string, number> {
  const numbers = new Map<string, number>();
  for (const { stem } of words) if (!numbers.has(stem)) numbers.set(stem, numbers.size);
  return numbers;
}

function matchWords(view: SentenceView, numbers: ReadonlyMap<string, number>): Match {
  const words = new Int32Array(view.words.length);
  const holds = new Uint8Array(numbers.size);
  for (let at = 0; at < words.length; at++) {
    const number = numbers.get(view.words[at]?.stem ?? '') ?? -1;
    words[at] = number;
    if (number >= 0) holds[number] = 1;
  }
  return { words, holds };
}

function weighQuestion(
  question: Question,
  {
    numbers,
    matches,
    rows,
  }: {
    readonly numbers: ReadonlyMap<string, number>;
    readonly matches: readonly Match[];
    readonly rows: Int32Array;
  },
): QuestionTerms {
  const numbersOf = (stems: Iterable<string>) => Int32Array.from(stems, (stem) => numbers.get(stem) ?? -1);
  const words = numbersOf(question.words.map(({ stem }) => stem));
  const terms = numbersOf(question.terms);
  const idf = new Float64Array(numbers.size);
  let total = 0;
  for (const term of terms) {
    let count = 0;
    for (const { holds } of matches) count += holds[term] ?? 0;
    idf[term] = Math.log(1 + (matches.length + 1) / (count + 0.5));
    total += idf[term] ?? 0;
  }
  return {
    question,
    numbers,
    words,
    terms,
    names: numbersOf(question.names),
    pairs: listWordPairs(question, words, numbers.size),
    termLikeness: question.terms.map((term) => compareWithAll(findTopicRow(question, term), rows)),
    focusLikeness: compareFocus(question, rows),
    idf,
    total: total || 1,
  };
}

function findTopicRow(question: Question, term: string): number {
  const word = question.words.find((candidate) => candidate.stem === term);
  return word === undefined ? -1 : findWordRow(word.lower);
}

function listWordPairs(question: Question, words: Int32Array, stems: number): number[] {
  const pairs: number[] = [];
  for (let at = 0; at + 1 < words.length; at++) {
    const stops = (question.words[at]?.signs ?? 0) & (question.words[at + 1]?.signs ?? 0) & SIGN.stop;
    if (stops === 0) pairs.push((words[at] ?? 0) * stems + (words[at + 1] ?? 0));
  }
  return pairs;
}

function countHeld(terms: Int32Array, holds: Uint8Array): number {
  let count = 0;
  for (const term of terms) count += holds[term] ?? 0;
  return count;
}

function sumHeld(terms: Int32Array, holds: Uint8Array, idf: Float64Array): number {
  let sum = 0;
  for (const term of terms) if (holds[term] === 1) sum += idf[term] ?? 0;
  return sum;
}

function findLargestHeld(terms: Int32Array, holds: Uint8Array, idf: Float64Array): number {
  let largest = 0;
  for (const term of terms) if (holds[term] === 1) largest = Math.max(largest, idf[term] ?? 0);
  return largest;
}

/** Returns the share of the question's weight that the neighbour holds and the sentence does not. */
function sumNearby(
  { terms, idf, total }: QuestionTerms,
  holds: Uint8Array,
  near: Uint8Array | undefined,
): number {
  let sum = 0;
  for (const term of terms) if (holds[term] === 0 && near?.[term] === 1) sum += idf[term] ?? 0;
  return sum / total;
}

function sumHeading(asked: QuestionTerms, holds: Uint8Array, headingStems: ReadonlySet<string>): number {
  let sum = 0;
  for (const [index, stem] of asked.question.terms.entries()) {
    const term = asked.terms[index] ?? -1;
    if (holds[term] === 0 && headingStems.has(stem)) sum += asked.idf[term] ?? 0;
  }
  return sum / asked.total;
}

/** Counts the question's neighbouring word pairs that stand together in the sentence. */
function countBigramMatches({ pairs, numbers }: QuestionTerms, { words }: Match): number {
  const held = new Set<number>();
  for (let at = 0; at + 1 < words.length; at++) {
    const left = words[at] ?? -1;
    const right = words[at + 1] ?? -1;
    if (left >= 0 && right >= 0) held.add(left * numbers.size + right);
  }
  let matches = 0;
  if (held.size > 0) for (const pair of pairs) if (held.has(pair)) matches++;
  return matches;
}

/** Returns the length of the longest run of words that the question and the sentence share. */
function measureLongestRun(asked: QuestionTerms, { words }: Match): number {
  let longest = 0;
  // Length of the run that ends before each position of the sentence and at the question's word.
  const runs = new Int32Array(words.length + 1);
  for (const word of asked.words) {
    for (let at = words.length - 1; at >= 0; at--) {
      const run = words[at] === word ? (runs[at] ?? 0) + 1 : 0;
      runs[at + 1] = run;
      if (run > longest) longest = run;
    }
  }
  return longest;
}

/** Returns the likeness of each row to the class that the question names, that word itself excluded. */
function compareFocus({ focus }: Question, rows: Int32Array): Float64Array {
  const row = focus === '' ? -1 : findWordRow(focus);
  return compareWithAll(row, rows).map((cosine, at) => (rows[at] === row ? 0 : cosine));
}

/** Returns the largest of the values at `places`, or 0 when all are below that. */
function findLargest(values: Float64Array | undefined, places: Int32Array): number {
  let largest = 0;
  if (values === undefined) return largest;
  for (let at = 0; at < places.length; at++) {
    const value = values[places[at] ?? 0] ?? 0;
    if (value > largest) largest = value;
  }
  return largest;
}

/** Sums the weights of the topic words found, and lets a near synonym stand for a missing one. */
function measureSoftCover(
  { terms, termLikeness, idf }: QuestionTerms,
  holds: Uint8Array,
  places: Int32Array,
): number {
  let sum = 0;
  for (let index = 0; index < terms.length; index++) {
    const term = terms[index] ?? -1;
    const weight = idf[term] ?? 0;
    sum += holds[term] === 1 ? weight : weight * findLargest(termLikeness[index], places);
  }
  return sum;
}

/** Returns the words between the first and the last matched topic word for each match; small values are good. */
function measureTightness({ terms }: QuestionTerms, { words }: Match): number {
  let hits = 0;
  let first = -1;
  let last = -1;
  for (let at = 0; at < words.length; at++) {
    if ((words[at] ?? -1) < 0 || !terms.includes(words[at] ?? -1)) continue;
    if (hits === 0) first = at;
    last = at;
    hits++;
  }
  return hits < 2 ? 0 : (last - first) / hits;
}

/** Counts names, numbers, years, months and new words among the words that the question does not hold. */
function answerShapes(view: SentenceView, match: Match) {
  const shapes = { names: 0, numbers: 0, years: 0, dates: 0, fresh: 0 };
  for (let at = 0; at < view.words.length; at++) {
    if ((match.words[at] ?? -1) >= 0) continue;
    const signs = view.words[at]?.signs ?? 0;
    if ((signs & SIGN.stop) === 0) shapes.fresh++;
    if ((signs & SIGN.digit) !== 0) shapes.numbers++;
    if ((signs & SIGN.year) !== 0) shapes.years++;
    if ((signs & SIGN.month) !== 0) shapes.dates++;
    if ((signs & SIGN.capital) !== 0 && at > 0) shapes.names++;
  }
  return shapes;
}

/** Counts numbers that the question holds and the sentence does not: another year is another event. */
function countForeignNumbers(question: Question, view: SentenceView): number {
  let foreign = 0;
  for (const asked of question.words) {
    if ((asked.signs & SIGN.digit) === 0) continue;
    if (!view.words.some((word) => word.lower === asked.lower)) foreign++;
  }
  return foreign;
}
