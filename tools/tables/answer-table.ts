import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseTableQuestion } from './anchors.ts';
import { type ChanceFacts, computeChance } from './calibration.ts';
import type { Program } from './programs.ts';
import { buildProgramSpace, computeProbabilities, rankProgramAnswers } from './ranked-programs.ts';
import { parseTable, type Table } from './table.ts';
import { readTableModel, type TableModel } from './table-model.ts';
import { findUnplaced, type Unplaced } from './unplaced.ts';

/** An answer to a question about a table, and its derivation. */
export interface TableAnswer {
  /** The items of the answer, each once. */
  readonly items: readonly string[];
  /** Probability that the answer is right, from 0 to 1. */
  readonly chance: number;
  /** The most probable program that gives the answer, as `project(most(all)), order “Points”, project “Team”`. */
  readonly program: string;
  /** Parts of the question that the program does not use. */
  readonly unplaced: Unplaced;
  /** Facts that the chance is computed from. */
  readonly facts: ChanceFacts;
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
      const unplaced = findUnplaced(asked, program, table, common);
      const facts = { probability, most, unplaced };
      const chance = computeChance(facts, calibration);
      return { items: answer, chance, program: formatProgram(program, table), unplaced, facts };
    })
    .sort((a, b) => b.chance - a.chance);
}

function formatProgram({ shape, roles, anchors }: Program, { columns }: Table): string {
  const title = (column: number) => `“${columns[column]?.title ?? ''}”`;
  const used = roles.map(({ use, column }) => `${use} ${title(column)}`);
  const filters = anchors.map(({ kind, column, rows }) => `${title(column)} ${kind} (${rows.length})`);
  return [shape, ...used, ...filters].join(', ');
}
