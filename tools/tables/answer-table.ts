import { answersBy, probabilities, spaceOf } from './ranked-programs.ts';
import { tableOf } from './table.ts';
import { readTableModel, type TableModel } from './table-model.ts';

/** Below this an answer is a guess: of such answers fewer than one in ten is right on held-out questions. */
const MIN_PROBABILITY = 0.1;

/** An answer to a question about a table, and how it was come by. */
export interface TableAnswer {
  /** The items of the answer, each once. */
  readonly items: readonly string[];
  /** Of all programs that give this answer, by the model; from 0 to 1. */
  readonly probability: number;
  /** The program, as `project(most(all)) of "Year" ordered by "Points"`. */
  readonly program: string;
}

let model: TableModel | undefined;

/**
 * Answers a question about a table by the most probable program of a bounded grammar: a log-linear semantic parser trained on
 * WikiTableQuestions by its answers alone (after Pasupat and Liang, ACL 2015). Undefined where no program gives anything, or none that is sure enough.
 *
 * @param rows the first is the heading
 * @param threshold the least probability of an answer that is given
 */
export function answerTable(
  question: string,
  rows: readonly (readonly string[])[],
  threshold: number = MIN_PROBABILITY,
): TableAnswer | undefined {
  const table = tableOf(rows);
  if (table.size === 0) return undefined;
  model ??= readTableModel(new URL('weights/tables.bin', import.meta.url));
  const space = spaceOf(question, table, model.common);
  const [best] = answersBy(space, probabilities(space, model.weights));
  if (best === undefined || best.probability < threshold) return undefined;
  const titles = best.program.roles.map(
    ({ use, column }) => `${use} “${table.columns[column]?.title ?? ''}”`,
  );
  const filters = best.program.anchors.map(
    ({ kind, column, rows: found }) => `“${table.columns[column]?.title ?? ''}” ${kind} (${found.length})`,
  );
  return {
    items: best.answer,
    probability: best.probability,
    program: [best.program.shape, ...titles, ...filters].join(', '),
  };
}
