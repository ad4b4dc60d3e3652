import { fileURLToPath, pathToFileURL } from 'node:url';
import { findAnchors, parseTableQuestion, type TableQuestion } from './anchors.ts';
import { Factors } from './features.ts';
import { listPrograms, type Program } from './programs.ts';
import { parseTable, type Table } from './table.ts';
import { readTableModel, type TableModel } from './table-model.ts';
import { splitWords } from './words.ts';

/** Programs in factors: the input of scoring and of training. */
interface FactoredPrograms {
  /** Features of each factor. */
  readonly features: readonly Int32Array[];
  /** Factors of program `i`: `factors[starts[i]]` up to `factors[starts[i + 1]]`. */
  readonly factors: Int32Array;
  readonly starts: Int32Array;
}

/** All programs of a question with their factors. */
interface ProgramSpace extends FactoredPrograms {
  readonly programs: readonly Program[];
}

export function buildProgramSpace(question: string, table: Table, common: ReadonlySet<string>): ProgramSpace {
  const asked = parseTableQuestion(question);
  const anchors = findAnchors(asked, table, (stem) => common.has(stem));
  const programs = listPrograms(table, anchors);
  const all = new Factors(asked, table, anchors);
  const factors: number[] = [];
  const starts = new Int32Array(programs.length + 1);
  for (const [at, program] of programs.entries()) {
    factors.push(...all.of(program));
    starts[at + 1] = factors.length;
  }
  return { programs, features: all.features, factors: Int32Array.from(factors), starts };
}

/** Returns the probability of each program by a log-linear model over its features. */
export function computeProbabilities(
  { features, factors, starts }: FactoredPrograms,
  weights: Float32Array,
): Float64Array {
  const ofFactor = features.map((own) => own.reduce((sum, feature) => sum + (weights[feature] ?? 0), 0));
  const scores = new Float64Array(starts.length - 1);
  for (let at = 0; at < scores.length; at++) {
    for (let place = starts[at] ?? 0; place < (starts[at + 1] ?? 0); place++)
      scores[at] = (scores[at] ?? 0) + (ofFactor[factors[place] ?? 0] ?? 0);
  }
  const most = scores.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const odds = scores.map((score) => Math.exp(score - most));
  const sum = odds.reduce((a, b) => a + b, 0);
  return odds.map((odd) => odd / sum);
}

/** Returns answers with the probability of all programs that give them, the most probable first. */
function rankProgramAnswers(space: ProgramSpace, chances: Float64Array) {
  const answers = new Map<
    string,
    { answer: readonly string[]; program: Program; best: number; probability: number }
  >();
  for (const [at, program] of space.programs.entries()) {
    const chance = chances[at] ?? 0;
    const key = program.answer.join('\u0001');
    const known = answers.get(key);
    if (known === undefined) {
      answers.set(key, { answer: program.answer, program, best: chance, probability: chance });
      continue;
    }
    known.probability += chance;
    if (chance > known.best) [known.best, known.program] = [chance, program];
  }
  return [...answers.values()].sort((a, b) => b.probability - a.probability);
}

/** Facts that the chance of an answer depends on, beside the probability of its programs. */
interface ChanceFacts {
  /** Probability of all programs that give the answer, by the model. */
  readonly probability: number;
  /** Probability of the most probable answer. */
  readonly most: number;
  /** Parts of the question that the program does not use. */
  readonly unplaced: Unplaced;
}

const LEAST = 1e-6;
const MAX_WORDS = 8;
const MAX_CONDITIONS = 3;

/**
 * Returns the factors of a logistic regression (after Platt 1999), fitted on questions that the model was not trained
 * on: the answer's probability, its distance from the first answer, and the parts of the question that its program
 * leaves out. The model's own probability alone does not say how often an answer is right.
 */
export function computeChanceFactors({ probability, most, unplaced }: ChanceFacts): number[] {
  return [
    1,
    computeLogit(probability),
    computeLogit(probability) - computeLogit(most),
    Math.min(MAX_WORDS, unplaced.words.length) / MAX_WORDS,
    Math.min(MAX_CONDITIONS, unplaced.conditions.length) / MAX_CONDITIONS,
    unplaced.placed === 0 ? 1 : 0,
    unplaced.words.length / Math.max(1, unplaced.words.length + unplaced.placed),
  ];
}

/** Returns the probability, from 0 to 1, that the answer is right. */
export function computeChance(facts: ChanceFacts, weights: readonly number[]): number {
  const sum = computeChanceFactors(facts).reduce(
    (total, factor, at) => total + factor * (weights[at] ?? 0),
    0,
  );
  return 1 / (1 + Math.exp(-sum));
}

function computeLogit(probability: number): number {
  const bounded = Math.min(1 - LEAST, Math.max(LEAST, probability));
  return Math.log(bounded / (1 - bounded));
}

/** Parts of a question that a program does not use. */
interface Unplaced {
  /** Numbers, dates and names: each narrows the question, so that an answer without it answers another one. */
  readonly conditions: readonly string[];
  /** Other words that carry meaning. */
  readonly words: readonly string[];
  /** Number of words with meaning that it uses. */
  readonly placed: number;
}

/** Minimum length of a reported word; shorter ones carry too little meaning. */
const MIN_WORD_CHARACTERS = 3;
const YEAR = /^(?:1\d|20)\d\d$/;

/**
 * Finds the words of the question that are neither part of what the program selects nor of the title of a column that
 * it uses. A year that occurs nowhere in the table is left out, since the whole table is about it.
 */
function findUnplaced(
  asked: TableQuestion,
  { anchors, roles }: Program,
  table: Table,
  common: ReadonlySet<string>,
): Unplaced {
  const { words, stems, names } = asked;
  const titles = new Set([...roles, ...anchors].flatMap(({ column }) => table.columns[column]?.words ?? []));
  const isPlaced = (at: number) =>
    titles.has(stems[at] ?? '') || anchors.some(({ start, end }) => start <= at && at < end);
  const conditions: string[] = [];
  const others: string[] = [];
  let placed = 0;
  for (const [at, word] of words.entries()) {
    const stem = stems[at] ?? '';
    if (isPlaced(at)) {
      if (!common.has(stem)) placed++;
      continue;
    }
    if (/^\d/.test(word)) {
      if (!YEAR.test(word) || collectWords(table).has(word)) conditions.push(word);
    } else if (names.has(at) && !common.has(stem)) conditions.push(word);
    else if (stem.length >= MIN_WORD_CHARACTERS && !common.has(stem)) others.push(word);
  }
  return { conditions, words: others, placed };
}

const known = new WeakMap<Table, ReadonlySet<string>>();

/** Collects all words of a table, once per table. */
function collectWords(table: Table): ReadonlySet<string> {
  const words =
    known.get(table) ??
    new Set(
      table.columns.flatMap(({ title, cells }) => [
        ...splitWords(title),
        ...cells.flatMap(({ norm }) => norm.split(' ')),
      ]),
    );
  known.set(table, words);
  return words;
}

/** An answer to a question about a table, its derivation, and the facts that its chance is computed from. */
export interface TableAnswer extends ChanceFacts {
  /** The items of the answer, each once. */
  readonly items: readonly string[];
  /** Probability that the answer is right, from 0 to 1. */
  readonly chance: number;
  /** The most probable program that gives the answer, as `project(most(all)), order “Points”, project “Team”`. */
  readonly program: string;
}

/**
 * Chance below which no answer is given. Of the development questions of WikiTableQuestions, with weights that have not
 * seen them, 87 % are answered then, and 51 % of the answers are right; of those asked of another table, half are
 * refused.
 */
export const MIN_TABLE_CHANCE = 0.1;

/**
 * Returns true if an answer may be given: it is probable enough, and its program uses every number of the question. Names
 * and other words that it does not use lower its chance, but they may belong to the story around the question.
 */
export function isGiven({ chance, unplaced }: TableAnswer, threshold: number): boolean {
  return chance >= threshold && !unplaced.conditions.some((condition) => /^\d/.test(condition));
}

/** Number of answers kept; less probable ones are never the right answer that was missed. */
const MAX_ANSWERS = 20;
const SHIPPED = fileURLToPath(new URL('weights/tables.bin', import.meta.url));
const models = new Map<string, TableModel>();
/** Tables by their rows: several questions about a document read the same ones. */
const tables = new WeakMap<readonly (readonly string[])[], Table>();

/**
 * Answers a question about a table, the most probable answer first, by the programs of a bounded grammar: a log-linear
 * semantic parser trained on WikiTableQuestions by its answers alone (after Pasupat and Liang, ACL 2015). Returns an
 * empty list when no program gives an answer.
 *
 * @param rows the first is the heading
 * @param weights file of the model; defaults to the one that ships
 */
export function answerTable(
  question: string,
  rows: readonly (readonly string[])[],
  weights = SHIPPED,
): TableAnswer[] {
  const table = tables.get(rows) ?? parseTable(rows);
  tables.set(rows, table);
  if (table.size === 0) return [];
  const model = models.get(weights) ?? readTableModel(pathToFileURL(weights));
  models.set(weights, model);
  return rankAnswers(model, question, table);
}

/** Ranks answers as {@link answerTable} does, by the given model. */
export function rankAnswers(
  { common, weights, calibration }: TableModel,
  question: string,
  table: Table,
): TableAnswer[] {
  const space = buildProgramSpace(question, table, common);
  const asked = parseTableQuestion(question);
  const answers = rankProgramAnswers(space, computeProbabilities(space, weights)).slice(0, MAX_ANSWERS);
  const most = answers[0]?.probability ?? 0;
  return answers
    .map(({ answer, probability, program }): TableAnswer => {
      const facts = { probability, most, unplaced: findUnplaced(asked, program, table, common) };
      const chance = computeChance(facts, calibration);
      return { ...facts, items: answer, chance, program: formatProgram(program, table) };
    })
    .sort((a, b) => b.chance - a.chance);
}

function formatProgram({ shape, roles, anchors }: Program, { columns }: Table): string {
  const title = (column: number) => `“${columns[column]?.title ?? ''}”`;
  const used = roles.map(({ use, column }) => `${use} ${title(column)}`);
  const filters = anchors.map(({ kind, column, rows }) => `${title(column)} ${kind} (${rows.length})`);
  return [shape, ...used, ...filters].join(', ');
}
