import { cpuMs } from '@gaia-mesh/core/testing/cpu-time.ts';
import { isWtqMatch, parseWtqValues } from '@gaia-mesh/evaluation/scorers/wtq.ts';
import {
  Calibration,
  type CalibrationFigures,
} from '@gaia-mesh/evaluation/statistics/answers/calibration.ts';
import {
  computeChance,
  computeChanceFactors,
  isGiven,
  MIN_TABLE_CHANCE,
  rankAnswers,
  type TableAnswer,
} from '@gaia-mesh/tools/tables/answer-table.ts';
import type { Table } from '@gaia-mesh/tools/tables/table.ts';
import type { TableModel } from '@gaia-mesh/tools/tables/table-model.ts';
import type { WtqQuestion } from './wtq-data.ts';

/** Number of answers per question that calibration learns from: the right one is seldom further down. */
const LEARNED_ANSWERS = 3;
interface Ranked {
  readonly table: string;
  readonly answers: readonly (TableAnswer & { readonly isRight: boolean })[];
  readonly cpuMs: number;
}

interface HeldOutFigures extends CalibrationFigures {
  readonly questions: number;
  /** Share of right answers when the most probable one is always given. */
  readonly accuracy: number;
  /** Share of right answers among all questions when the engine may refuse. */
  readonly accuracy_with_refusals: number;
  /** Processor time per question: a clock would include other work of a busy machine. */
  readonly median_cpu_ms: number;
  readonly p95_cpu_ms: number;
}

/** Answers questions that a model was not trained on. */
function rankQuestions(
  model: TableModel,
  questions: readonly WtqQuestion[],
  tableNamed: (id: string) => Table,
): Ranked[] {
  return questions.map(({ question, table: id, answers: truths }) => {
    const table = tableNamed(id);
    const before = cpuMs();
    const answers = rankAnswers(model, question, table);
    const spentMs = cpuMs() - before;
    const target = parseWtqValues(truths);
    const judged = answers.map((answer) => {
      return { ...answer, isRight: isWtqMatch(target, parseWtqValues(answer.items)) };
    });
    return { table: id, answers: judged, cpuMs: spentMs };
  });
}

/** One question in this many is asked of another table, too, where no answer is right. */
const UNANSWERABLE = 4;

/** Answers questions of their own tables, and some of them of another one. */
export function rankWithOthers(
  model: TableModel,
  questions: readonly WtqQuestion[],
  tableNamed: (id: string) => Table,
): Ranked[] {
  const tables = [...new Set(questions.map(({ table }) => table))];
  const others = questions.filter((_, at) => at % UNANSWERABLE === 0);
  const asked = others.map((question) => {
    return { ...question, table: tables[(tables.indexOf(question.table) + 1) % tables.length] ?? '' };
  });
  const unanswerable = rankQuestions(model, asked, tableNamed).map((one) => {
    return { ...one, answers: one.answers.map((answer) => ({ ...answer, isRight: false })) };
  });
  return [...rankQuestions(model, questions, tableNamed), ...unanswerable];
}

/** Fits the weights of calibration. */
export function fitCalibration(questions: readonly Ranked[]): number[] {
  const rows = questions.flatMap(({ answers }) => answers.slice(0, LEARNED_ANSWERS));
  return fitLogistic(
    rows.map(computeChanceFactors),
    rows.map(({ isRight }) => isRight),
  );
}

/**
 * Measures held-out questions with a calibration that has not seen them: each half of the tables is measured with the
 * calibration fitted on the other half.
 */
export function measureHeldOut(
  model: TableModel,
  questions: readonly WtqQuestion[],
  tableNamed: (id: string) => Table,
): HeldOutFigures {
  const tables = [...new Set(questions.map(({ table }) => table))];
  const halfOf = new Map(tables.map((table, at) => [table, at % 2]));
  const learned = rankWithOthers(model, questions, tableNamed);
  const plain = learned.slice(0, questions.length);
  const measured = [0, 1].flatMap((half) => {
    const calibration = fitCalibration(learned.filter(({ table }) => halfOf.get(table) !== half));
    return plain
      .filter(({ table }) => halfOf.get(table) === half)
      .map((one) => ({ ...one, answers: withChances(one.answers, calibration) }));
  });
  return summarizeRanked(measured);
}

/** Ranks the same answers by another calibration. */
function withChances(answers: Ranked['answers'], calibration: readonly number[]): Ranked['answers'] {
  return answers
    .map((answer) => ({ ...answer, chance: computeChance(answer, calibration) }))
    .sort((a, b) => b.chance - a.chance);
}

function summarizeRanked(measured: readonly Ranked[]): HeldOutFigures {
  const calibration = new Calibration();
  let right = 0;
  let rightAndGiven = 0;
  for (const { answers } of measured) {
    const given = answers.find((answer) => isGiven(answer, MIN_TABLE_CHANCE));
    calibration.add(given?.chance, given?.isRight === true);
    if (answers[0]?.isRight === true) right += 1;
    if (given?.isRight === true) rightAndGiven += 1;
  }
  const times = measured.map(({ cpuMs: ms }) => ms).sort((a, b) => a - b);
  const at = (part: number) => times[Math.floor(part * (times.length - 1))] ?? 0;
  return {
    questions: measured.length,
    accuracy: right / measured.length,
    accuracy_with_refusals: rightAndGiven / measured.length,
    ...calibration.figures(),
    median_cpu_ms: at(0.5),
    p95_cpu_ms: at(0.95),
  };
}

/** Ridge penalty, which keeps columns with the same content solvable. */
const RIDGE: number = 1e-3;
const ROUNDS = 25;

/** Fits the weights of a logistic regression by Newton's method. */
export function fitLogistic(rows: readonly (readonly number[])[], isRight: readonly boolean[]): number[] {
  const size = rows[0]?.length ?? 0;
  const weights = new Array<number>(size).fill(0);
  for (let round = 0; round < ROUNDS; round++) {
    const slope = weights.map((weight) => -RIDGE * weight);
    const bend = weights.map((_, at) => weights.map((__, other) => (at === other ? RIDGE : 0)));
    for (const [at, row] of rows.entries()) {
      const sum = row.reduce((total, value, index) => total + value * (weights[index] ?? 0), 0);
      const chance = 1 / (1 + Math.exp(-sum));
      const rest = (isRight[at] === true ? 1 : 0) - chance;
      for (const [index, value] of row.entries()) {
        slope[index] = (slope[index] ?? 0) + rest * value;
        const line = bend[index] ?? [];
        for (const [other, second] of row.entries())
          line[other] = (line[other] ?? 0) + chance * (1 - chance) * value * second;
      }
    }
    for (const [at, change] of solveLinear(bend, slope).entries()) weights[at] = (weights[at] ?? 0) + change;
  }
  return weights;
}

/** Solves a system of linear equations by elimination; its matrix is positive definite. */
function solveLinear(matrix: readonly (readonly number[])[], right: readonly number[]): number[] {
  const rows = matrix.map((line, at) => [...line, right[at] ?? 0]);
  for (const [at, pivot] of rows.entries()) {
    const scale = pivot[at] ?? 1;
    for (const [other, line] of rows.entries()) {
      if (other === at) continue;
      const share = (line[at] ?? 0) / scale;
      for (const [column, value] of pivot.entries()) line[column] = (line[column] ?? 0) - share * value;
    }
  }
  return rows.map((line, at) => (line.at(-1) ?? 0) / (line[at] ?? 1));
}
