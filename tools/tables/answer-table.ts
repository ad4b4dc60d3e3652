import { questionOf } from './anchors.ts';
import type { Program } from './programs.ts';
import { answersBy, probabilities, spaceOf } from './ranked-programs.ts';
import { type Table, tableOf } from './table.ts';
import { readTableModel, type TableModel } from './table-model.ts';

/** An answer to a question about a table, and how it was come by. */
export interface TableAnswer {
  /** The items of the answer, each once. */
  readonly items: readonly string[];
  /** Of all programs that give this answer, by the model; from 0 to 1. */
  readonly probability: number;
  /** The most probable of them, as `project(most(all)), order “Points”, project “Team”`. */
  readonly program: string;
  /** Words of the question that have no part in it. */
  readonly unplaced: readonly string[];
}

/** Answers that are less probable than the first so many are never the right one that was missed. */
const MAX_ANSWERS = 20;
/** Shorter words say too little to be missed. */
const MIN_WORD_CHARACTERS = 3;

let model: TableModel | undefined;

/**
 * Answers to a question about a table, the most probable first, by the programs of a bounded grammar: a log-linear semantic parser trained
 * on WikiTableQuestions by its answers alone (after Pasupat and Liang, ACL 2015). Empty where no program gives anything.
 *
 * @param rows the first is the heading
 */
export function tableAnswers(question: string, rows: readonly (readonly string[])[]): TableAnswer[] {
  const table = tableOf(rows);
  if (table.size === 0) return [];
  model ??= readTableModel(new URL('weights/tables.bin', import.meta.url));
  const { common, weights } = model;
  const space = spaceOf(question, table, common);
  return answersBy(space, probabilities(space, weights))
    .slice(0, MAX_ANSWERS)
    .map(({ answer, probability, program }) => ({
      items: answer,
      probability,
      program: textOf(program, table),
      unplaced: unplacedIn(question, program, table, common),
    }));
}

function textOf({ shape, roles, anchors }: Program, { columns }: Table): string {
  const title = (column: number) => `“${columns[column]?.title ?? ''}”`;
  const used = roles.map(({ use, column }) => `${use} ${title(column)}`);
  const filters = anchors.map(({ kind, column, rows }) => `${title(column)} ${kind} (${rows.length})`);
  return [shape, ...used, ...filters].join(', ');
}

/** Words of the question that are neither in what the program selects nor in the titles of its columns, common words aside. */
function unplacedIn(
  question: string,
  { anchors, roles }: Program,
  { columns }: Table,
  common: ReadonlySet<string>,
): string[] {
  const { words, stems } = questionOf(question);
  const titles = new Set([...roles, ...anchors].flatMap(({ column }) => columns[column]?.words ?? []));
  const isPlaced = (at: number) => anchors.some(({ start, end }) => start <= at && at < end);
  return words.filter((_, at) => {
    const stem = stems[at] ?? '';
    return stem.length >= MIN_WORD_CHARACTERS && !common.has(stem) && !titles.has(stem) && !isPlaced(at);
  });
}
