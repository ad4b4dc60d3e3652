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
  /** The program, as `project(most(all)), order “Points”, project “Team”`. */
  readonly program: string;
}

/** Why there is no answer, to go behind "and". */
export interface NoTableAnswer {
  readonly why: string;
}

/** When an answer is given. The bounds are those of held-out questions of WikiTableQuestions. */
export interface Caution {
  /** The least probability: of less sure answers fewer than one in ten is right. */
  readonly leastProbability: number;
  /** Most words of the question that have no part in the program: with more, one answer in four is right. */
  readonly mostUnplaced: number;
}

const CAUTION: Caution = { leastProbability: 0.1, mostUnplaced: 5 };
/** Shorter words say too little to be missed. */
const MIN_WORD_CHARACTERS = 3;

let model: TableModel | undefined;

/**
 * Answers a question about a table by the most probable program of a bounded grammar: a log-linear semantic parser trained on
 * WikiTableQuestions by its answers alone (after Pasupat and Liang, ACL 2015). It refuses where no program gives anything, none is sure
 * enough, or too much of the question has no part in it.
 *
 * @param rows the first is the heading
 */
export function answerTable(
  question: string,
  rows: readonly (readonly string[])[],
  { leastProbability, mostUnplaced }: Caution = CAUTION,
): TableAnswer | NoTableAnswer {
  const table = tableOf(rows);
  if (table.size === 0) return { why: 'the table has no rows' };
  model ??= readTableModel(new URL('weights/tables.bin', import.meta.url));
  const space = spaceOf(question, table, model.common);
  const [best] = answersBy(space, probabilities(space, model.weights));
  if (best === undefined || best.probability < leastProbability)
    return { why: 'no program over the table is sure enough to answer the question' };
  const unplaced = unplacedIn(question, best.program, table, model.common);
  if (unplaced.length > mostUnplaced)
    return { why: `its programs over tables have no place for “${unplaced.slice(0, 8).join('”, “')}”` };
  const title = (column: number) => `“${table.columns[column]?.title ?? ''}”`;
  const roles = best.program.roles.map(({ use, column }) => `${use} ${title(column)}`);
  const filters = best.program.anchors.map(
    ({ kind, column, rows: found }) => `${title(column)} ${kind} (${found.length})`,
  );
  return {
    items: best.answer,
    probability: best.probability,
    program: [best.program.shape, ...roles, ...filters].join(', '),
  };
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
