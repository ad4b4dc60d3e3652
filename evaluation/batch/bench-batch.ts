import { existsSync } from 'node:fs';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { RunMetrics } from '@gaia-mesh/core/run/metrics/metrics-schema.ts';
import type { RunPlan } from '../plan/run-plan.ts';
import { toAttemptId } from '../questions/question.ts';
import { type BatchSummary, SummaryBuilder } from '../results/bench-summary.ts';
import { type Figures, FiguresSum } from '../results/figures.ts';
import { summarizeTeam } from '../results/summary.ts';
import { formatCycles } from '../results/tables/batch-table.ts';
import { formatFailure } from '../results/tables/bench-report.ts';
import { WrongAnswers } from '../results/tables/wrong-answers.ts';
import type { Interval } from '../statistics/inference/confidence.ts';
import type { BatchEnd } from './batch.ts';
import { formatAttemptKey, type Journal } from './journal/journal.ts';
import type { Runner, TeamEnd } from './runner.ts';

/** Maximum failed tasks named at the end; `results.jsonl` has all of them. */
const SHOWN_FAILURES = 5;

/**
 * Refuses to resume a batch that does not exist, or is finished.
 *
 * @throws MeshError `usage`, and as {@link Journal.open}
 */
export function checkResumed({ paths, questions, repeat }: RunPlan, runner: Runner): void {
  const { journal: file } = paths;
  if (!existsSync(file)) throw new MeshError('usage', `--resume: no batch to resume: ${file} does not exist`);
  const total = questions.length * repeat;
  if (runner.journal.size < total) return;
  runner.close();
  throw new MeshError(
    'usage',
    `--resume: all ${total} tasks in ${file} are finished; leave out --resume to run them again`,
  );
}

/** The outcome of a batch of tasks. */
interface BenchBatch {
  readonly end: BatchEnd;
  readonly summary: SummaryBuilder;
  readonly wallMs: number;
  readonly failures: readonly string[];
  readonly wrong: WrongAnswers;
  /** The answers from the cache, and what they took when they were asked. */
  readonly fromCache: Pick<Figures, 'cached' | 'cached_use'>;
  /** Set with `--repeat`. */
  readonly cycles: Pick<ReturnType<typeof summarizeTeam>, 'cycles' | 'pass_at' | 'pass_hat'> | undefined;
  readonly cycleLines: readonly string[];
}

/**
 * Adds up a batch of tasks.
 *
 * @param kept keys of the attempts that an earlier run finished
 */
export function buildBenchBatch(
  { teams: [planned], questions: tasks, repeat }: RunPlan,
  { end, wallSeconds }: TeamEnd,
  journal: Journal,
  kept: ReadonlySet<string>,
): BenchBatch {
  if (planned === undefined) throw new Error('a bench has one team');
  const { team } = planned;
  const summary = new SummaryBuilder();
  const failures: string[] = [];
  const wrong = new WrongAnswers();
  const figures = new FiguresSum();
  for (let cycle = 1; cycle <= repeat; cycle++) {
    for (const task of tasks) {
      const key = { task_id: task.taskId, team: team.name, cycle };
      const attempt = journal.read(key);
      if (attempt === undefined) continue;
      figures.add(attempt, task.truths.length > 0);
      if (kept.has(formatAttemptKey(key))) summary.addEarlier(task, attempt);
      else summary.add(task, attempt);
      const id = toAttemptId(task.taskId, cycle);
      const ended = attempt.ended ?? attempt.status;
      if (ended !== 'answered' && failures.length < SHOWN_FAILURES)
        failures.push(formatFailure(id, ended, attempt.reason));
      if (ended === 'answered' && attempt.normalized_em === 0) {
        const { question, truths } = task;
        wrong.add({ id, question, truth: truths.join(' | ') }, [[team.name, attempt.final_answer]]);
      }
    }
  }
  const repeated =
    repeat === 1
      ? undefined
      : summarizeTeam(tasks, repeat, ({ taskId }, cycle) =>
          journal.read({ task_id: taskId, team: team.name, cycle }),
        );
  return {
    end,
    summary,
    wallMs: wallSeconds * 1000,
    failures,
    wrong,
    fromCache: figures.figures(),
    cycles: repeated && {
      cycles: repeated.cycles,
      pass_at: repeated.pass_at,
      pass_hat: repeated.pass_hat,
    },
    cycleLines: repeated === undefined ? [] : [...formatCycles(repeated), ''],
  };
}

/** Returns the output of `bench --tasks --json`, and the intervals that its table shows. */
export function summarizeBench(
  { summary, wallMs, cycles, fromCache }: BenchBatch,
  metrics: RunMetrics,
): { readonly json: BatchSummary; readonly interval: (part?: string) => Interval | null } {
  const { run_id, team, adapter, engine, ledger } = metrics;
  const facts = { run_id, team, adapter, engine, balanced: ledger.balanced };
  return {
    json: {
      ...summary.summary(facts, metrics, wallMs),
      cached: fromCache.cached || undefined,
      cached_use: fromCache.cached_use,
      ...cycles,
    },
    interval: (part) => summary.interval(part),
  };
}
