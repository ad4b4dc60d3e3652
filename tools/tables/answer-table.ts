import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseTableQuestion } from './anchors.ts';
import { type ChanceFacts, computeChance } from './calibration.ts';
import type { Program } from './programs.ts';
import { buildProgramSpace, computeProbabilities, rankProgramAnswers } from './ranked-programs.ts';
import { parseTable, type Table } from './table.ts';
import { readTableModel, type TableModel } from './table-model.ts';
import { findUnplaced, type Unplaced } from './unplaced.ts';

/** An answer to a question about a table, and how it was come by. */
export interface TableAnswer {
  /** The items of the answer, each once. */
  readonly items: readonly string[];
  /** How probable it is that it is right, from 0 to 1. */
  readonly chance: number;
  /** The most probable of them, as `project(most(all)), order “Points”, project “Team”`. */
  readonly program: string;
  /** What of the question has no part in it. */
  readonly unplaced: Unplaced;
  /** What the chance comes of. */
  readonly facts: ChanceFacts;
}

/** Words of a question that may have no part in a program, conditions aside: with more, one answer in four is right. */
const MAX_UNPLACED = 5;

/** Whether an answer may be given: it is probable enough, and leaves no condition of the question out. */
export function isGiven({ chance, unplaced }: TableAnswer, threshold: number): boolean {
  return chance >= threshold && unplaced.conditions.length === 0 && unplaced.words.length <= MAX_UNPLACED;
}

/** Answers that are less probable than the first so many are never the right one that was missed. */
const MAX_ANSWERS = 20;
const SHIPPED = fileURLToPath(new URL('weights/tables.bin', import.meta.url));
const models = new Map<string, TableModel>();

/**
 * Answers to a question about a table, the most probable first, by the programs of a bounded grammar: a log-linear semantic parser trained
 * on WikiTableQuestions by its answers alone (after Pasupat and Liang, ACL 2015). Empty where no program gives anything.
 *
 * @param rows the first is the heading
 * @param weights file of the model; without it the one that ships
 */
export function answerTable(
  question: string,
  rows: readonly (readonly string[])[],
  weights = SHIPPED,
): TableAnswer[] {
  const table = parseTable(rows);
  if (table.size === 0) return [];
  const model = models.get(weights) ?? readTableModel(pathToFileURL(weights));
  models.set(weights, model);
  return rankAnswers(model, question, table);
}

/** The same by a model of one's own. */
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
