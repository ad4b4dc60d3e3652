// Answers yes/no questions by the agreement of a sentence with the question: which of its words the sentence has, whether
// as they are, as words of like meaning or as their opposites, and how often either of them is negated.

import { stemWord } from '../language/stem.ts';
import { compareRows, findWordRow } from '../language/vectors.ts';
import { isStopWord, SIGN, splitWords, type Word } from '../language/words.ts';
import type { Question } from '../question.ts';
import type { Sentence } from './sentence-schema.ts';

/** An answer with the sentence that it rests on. */
interface YesNo {
  readonly answer: 'yes' | 'no';
  readonly sentence: Sentence;
  readonly chance: number;
}

/** Words of like meaning on each side of a bar, their opposites on the other. */
const OPPOSITES = [
  'approve accept agree allow permit grant adopt welcome admit authorise authorize | reject refuse deny decline forbid forbidden prohibit ban bar disallow dismiss veto',
  'pass succeed success successful | fail failure unsuccessful',
  'open | close shut',
  'include contain comprise cover | exclude omit lack except',
  'increase rise grow raise more high higher gain exceed | decrease fall drop reduce lessen lower fewer less low shrink cut',
  'start begin | end finish stop cease expire',
  'win won victory | lose lost defeat',
  'arrive arrival | depart departure leave',
  'before early earlier | after late later',
  'first top | last bottom',
  'present attend | absent absence miss apology',
  'free | cost charge paid fee payable',
  'possible able | impossible unable',
  'safe | dangerous unsafe',
  'dry | wet',
  'hot warm | cold cool',
  'full | empty',
  'public | private',
  'indoors inside | outdoors outside',
  'above over | below under',
  'alive live | dead die',
  'cheap | expensive',
  'easy simple | difficult hard',
  'same identical equal | different differ',
  'optional voluntary | mandatory compulsory obligatory require',
  'buy purchase | sell',
  'enable activate | disable deactivate',
  'confirm complete run happen | cancel skip postpone abandon',
  'improve better | worsen worse',
  'support favour favor | oppose against',
  'true correct right | false incorrect wrong',
  'major | minor',
  'enough sufficient adequate | insufficient inadequate',
  'keep retain | remove delete discard',
  'unanimous | divided',
];
/** The stems of {@link OPPOSITES}, made for the first question that needs them. */
let opposites: readonly ReadonlySet<string>[][] | undefined;

/** Verbs of two words, which are read as one of their meaning. */
const PHRASES: readonly (readonly [RegExp, string])[] = [
  [/\bturn(?:ed|s|ing)? (?:it |them )?down\b/gi, 'rejected'],
  [/\brul(?:e|ed|es|ing) out\b/gi, 'excluded'],
  [/\bcall(?:ed|s|ing)? off\b/gi, 'cancelled'],
  [/\bput off\b/gi, 'postponed'],
  [/\bsold out\b/gi, 'unavailable'],
  [/\bno longer\b/gi, 'not'],
  [/\bnot only\b/gi, ''],
  [/\bno (?:later|more|less|fewer) than\b/gi, ''],
  [/\bfree of charge\b/gi, 'free'],
];

const PREPOSITION = /^(?:in|on|at|by|for|with|from|during|before|after|until)$/;
const NOT = /^(?:not|never|cannot|neither|nor|nobody|nothing|hardly|n)$/;
const ANYONE = /^(?:any|some|every)(?:one|body|thing)$/;
/** Pronouns that may stand for the name that the question has. */
const PRONOUN = /^(?:he|she|it|they)$/;
/** Determiners and prepositions, which negate what follows them at once. */
const NO = /^(?:no|none|without)$/;
const NO_REACH = 3;
const CLAUSE = /[,;:]\s|\s(?:but|although|though|while|whereas|because|unless|except|however|and)\s/gi;
/** Least likeness of two words, as the cosine of their vectors, at which one stands for the other. */
const MIN_LIKENESS = 0.6;

/** Weight of a name, a number or the predicate of the question, against 1 of another word. */
const MAIN_WEIGHT = 2;

type Match = { at: number; weight: number; isOpposite: boolean };

/** Returns the answer that the sentence in best agreement gives; undefined if there is none to compare. */
export function answerYesNo(question: Question, sentences: readonly Sentence[]): YesNo | undefined {
  const asked = splitWords(replacePhrases(question.text));
  const said = asked.filter(({ lower }) => !isStopWord(lower) && !NOT.test(lower));
  const terms = said.filter(({ lower }) => !ANYONE.test(lower));
  if (terms.length === 0) return undefined;
  const isAskedNegated = asked.some(({ lower }) => NOT.test(lower) || NO.test(lower));
  // "Was the boat repaired in May?" and "Is the boat dry?" have it before the preposition, and questions with "do" do not.
  const preposition = asked.find(
    ({ lower, start }) => PREPOSITION.test(lower) && start > (said[1]?.start ?? 0),
  )?.start;
  const predicate = /^(?:is|are|was|were|be|been)$/.test(asked[0]?.lower ?? '')
    ? (terms.findLast(({ start }) => start < (preposition ?? Number.POSITIVE_INFINITY))?.stem ?? '')
    : '';
  let best: YesNo | undefined;
  for (const sentence of sentences) {
    const compared = compareSentence(terms, sentence, predicate);
    if (compared.chance <= (best?.chance ?? -1)) continue;
    const isTrue = compared.isNegated === isAskedNegated && !compared.differs;
    best = { answer: isTrue ? 'yes' : 'no', sentence, chance: compared.chance };
  }
  return best;
}

/** Compares the question's words with a sentence: their coverage as a chance, and whether the sentence denies them. */
function compareSentence(terms: readonly Word[], { text, heading = '' }: Sentence, predicate: string) {
  const plain = replacePhrases(text);
  const words = splitWords(plain);
  const headingWords = splitWords(heading);
  const matches = terms.map((term) => matchTerm(term, words));
  const covered = matches.map((match, at) => {
    const term = terms[at];
    return match?.weight ?? (term !== undefined && matchTerm(term, headingWords) !== undefined ? 0.7 : 0);
  });
  // A name or a number says what the question is about; a sentence without it is about something else.
  // Its predicate says what is asked about that.
  const main = words.some(({ lower }) => PRONOUN.test(lower)) ? SIGN.digit : SIGN.capital | SIGN.digit;
  const weights = terms.map(({ signs, stem }) =>
    (signs & main) === 0 && stem !== predicate ? 1 : MAIN_WEIGHT,
  );
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const coverage = covered.reduce((sum, weight, at) => sum + weight * (weights[at] ?? 1), 0) / total;
  const clause = findClause(plain, words, terms);
  const own = words.slice(clause.from, clause.to);
  const inClause = terms.flatMap((term) => matchTerm(term, own) ?? []);
  const negations = countNegations(own, inClause) + inClause.filter(({ isOpposite }) => isOpposite).length;
  // A number of the question that the sentence has not, where it has another one, is denied.
  const isNumber = (word: Word | undefined) => word !== undefined && (word.signs & SIGN.digit) !== 0;
  const differs =
    terms.some((term, at) => isNumber(term) && matches[at] === undefined) &&
    words.some((word) => isNumber(word) && !terms.some(({ lower }) => lower === word.lower));
  const missingNumber = differs
    ? terms.filter((term, at) => isNumber(term) && matches[at] === undefined).length
    : 0;
  const agreement = coverage + (0.8 * missingNumber) / terms.length;
  return { chance: toChance(agreement), isNegated: negations % 2 === 1, differs };
}

/** The chance grows with the share of covered words; with half of them the sentence is likely about something else. */
function toChance(coverage: number): number {
  return Math.max(0, Math.min(0.9, 1.8 * coverage - 0.9));
}

/** Finds a term among words: itself, a word of like meaning, or its opposite. */
function matchTerm(term: Word, words: readonly Word[]): Match | undefined {
  let best: Match | undefined;
  // Names have no synonyms: the vectors of two weekdays are alike.
  const row = (term.signs & SIGN.capital) === 0 ? findWordRow(term.lower) : -1;
  for (const [at, word] of words.entries()) {
    const weight = word.stem === term.stem ? 1 : (compareByList(term, word) ?? compareByVector(row, word));
    if (Math.abs(weight) > (best?.weight ?? 0))
      best = { at, weight: Math.abs(weight), isOpposite: weight < 0 };
  }
  return best;
}

/** Returns 0.9 for words of like meaning, -0.9 for opposites. */
function compareByList({ lower, stem }: Word, word: Word): number | undefined {
  const isNegatedForm = (whole: string, part: string) =>
    /^(?:un|in|im|ir|il|dis|non)$/.test(whole.slice(0, -part.length)) && whole.endsWith(part);
  if (
    isNegatedForm(lower, word.lower) ||
    isNegatedForm(word.lower, lower) ||
    isNegatedForm(stem, word.stem) ||
    isNegatedForm(word.stem, stem)
  )
    return -0.9;
  opposites ??= OPPOSITES.map((line) =>
    line.split(' | ').map((side) => new Set(side.split(' ').map(stemWord))),
  );
  for (const sides of opposites) {
    const own = sides.findIndex((side) => side.has(stem));
    const other = sides.findIndex((side) => side.has(word.stem));
    if (own >= 0 && other >= 0) return own === other ? 0.9 : -0.9;
  }
  return undefined;
}

function compareByVector(row: number, word: Word): number {
  if (row < 0 || (word.signs & (SIGN.stop | SIGN.digit)) !== 0) return 0;
  const likeness = compareRows(row, findWordRow(word.lower));
  return likeness >= MIN_LIKENESS ? likeness : 0;
}

type Clause = { from: number; to: number };

/** Finds the clause with most of the matched words, the last one of equals: what is said in the end counts. */
function findClause(text: string, words: readonly Word[], terms: readonly Word[]): Clause {
  const ends = [...text.matchAll(CLAUSE)].map(({ index }) => words.findIndex(({ start }) => start > index));
  const edges = [0, ...ends.filter((at) => at > 0), words.length];
  let best: Clause = { from: 0, to: words.length };
  let most = -1;
  for (const [at, from] of edges.slice(0, -1).entries()) {
    const to = edges[at + 1] ?? words.length;
    const own = words.slice(from, to);
    const weight = terms.filter((term) => matchTerm(term, own) !== undefined).length;
    if (weight >= most) [best, most] = [{ from, to }, weight];
  }
  return best;
}

function countNegations(words: readonly Word[], found: readonly Match[]): number {
  let count = 0;
  for (const [at, { lower }] of words.entries()) {
    if (NOT.test(lower)) count++;
    if (NO.test(lower) && found.some((match) => match.at > at && match.at <= at + NO_REACH)) count++;
  }
  return count;
}

function replacePhrases(text: string): string {
  return PHRASES.reduce(
    (plain, [pattern, word]) => plain.replaceAll(pattern, word),
    text.replaceAll(/n['’]t\b/g, ' not'),
  );
}
