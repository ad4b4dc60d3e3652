import { addModelSums, type ModelSums } from '@gaia-mesh/core/contracts/usage.ts';
import { pickWorstStatus, type TaskStatus } from '@gaia-mesh/core/hub/tasks/task-clock.ts';
import { toMicroseconds } from '@gaia-mesh/core/run/metrics/metrics.ts';
import type { RunMetrics } from '@gaia-mesh/core/run/metrics/metrics-schema.ts';
import type { Attempt } from '../attempts/attempt.ts';
import { formatAttemptKey, type Journal } from '../batch/journal/journal.ts';
import type { RunPlan } from '../plan/run-plan.ts';
import { type Question, toAttemptId } from '../questions/question.ts';
import type { Interval } from '../statistics/inference/confidence.ts';
import { AttemptSum, type ResourceUse } from './figures.ts';
import { type Summary, summarize, type TeamSummary } from './summary.ts';
import { WrongAnswers } from './tables/wrong-answers.ts';

/** Maximum failed tasks named at the end; `results.jsonl` has all of them. */
const SHOWN_FAILURES = 5;

/** Mean scores of a group of tasks; null if no true answer is known. */
interface PartSummary {
  readonly tasks: number;
  readonly answered: number;
  readonly normalized_em: number | null;
  readonly f1: number | null;
  readonly rouge_l: number | null;
}

/** The output of `bench --tasks --json`. Model usage is present only in runs with a model. */
interface BenchSummary extends PartSummary, Partial<ModelSums> {
  readonly run_id: string;
  readonly team: string;
  readonly adapter: string;
  readonly engine: string;
  readonly timeout: number;
  readonly failed: number;
  readonly exact_match: number | null;
  readonly quality_score: number | null;
  readonly tasks_per_s: number;
  /** Milliseconds per task over all tasks that were tried; null if there are too few. */
  readonly p50_ms: number | null;
  readonly p95_ms: number | null;
  readonly token_sum: number;
  readonly bytes_tx: number;
  readonly bytes_rx: number;
  readonly pkt_cnt: number;
  readonly balanced: boolean;
  /** Tasks that an earlier, interrupted run finished; set when that run is resumed. */
  readonly resumed?: number | undefined;
  /** Number of answers from the cache, and the resources that they took when they were asked; in this run they took none. */
  readonly cached?: number | undefined;
  readonly cached_use?: ResourceUse | undefined;
  /** Summaries by part, see {@link Summary.parts}. */
  readonly by_part: Readonly<Record<string, PartSummary>>;
  /** Set with `--repeat`. */
  readonly cycles?: TeamSummary['cycles'];
  readonly pass_at?: TeamSummary['pass_at'];
  readonly pass_hat?: TeamSummary['pass_hat'];
}

/** A batch of tasks, as its table and its JSON show it. */
export interface BenchOutcome {
  readonly json: BenchSummary;
  /** The worst end of a task. A task whose model gave no usable reply does not count as failed, since it was asked. */
  readonly status: TaskStatus;
  /** Returns the interval of `normalized_em` for a part, or for all tasks. */
  readonly interval: (part?: string) => Interval | null;
  /** The first attempts whose tasks ended without an answer on the mesh, with the status of the task. */
  readonly failures: readonly Attempt[];
  readonly wrong: WrongAnswers;
  /** Figures of the same attempts by the measures of `gaia`. */
  readonly team: TeamSummary;
}

/**
 * Summarizes a batch of tasks.
 *
 * @param kept keys of the attempts that an earlier run finished
 */
export function summarizeBench(
  { questions, repeat }: Pick<RunPlan, 'questions' | 'repeat'>,
  journal: Pick<Journal, 'read'>,
  kept: ReadonlySet<string>,
  run: { readonly metrics: RunMetrics; readonly wallSeconds: number },
): BenchOutcome {
  const { team } = run.metrics;
  const failures: Attempt[] = [];
  let unanswered = 0;
  const wrong = new WrongAnswers();
  const earlier = new AttemptSum();
  const note = ({ question, truths, taskId }: Question, attempt: Attempt) => {
    const { cycle, status, ended = status, final_answer, normalized_em } = attempt;
    if (kept.has(formatAttemptKey(attempt))) earlier.add(attempt, truths.length > 0);
    if (ended === 'failed' && attempt.code === 'reply') unanswered += 1;
    if (ended !== 'answered' && failures.length < SHOWN_FAILURES)
      failures.push({ ...attempt, status: ended });
    if (ended === 'answered' && normalized_em === 0)
      wrong.add({ id: toAttemptId(taskId, cycle), question, truth: truths.join(' | ') }, [
        [team, final_answer],
      ]);
  };
  const summary = summarize(questions, repeat, (question, cycle) => {
    const attempt = journal.read({ task_id: question.taskId, team, cycle });
    if (attempt !== undefined) note(question, attempt);
    return attempt;
  });
  const { all, parts } = summary;
  return {
    json: buildBenchSummary(summary, earlier, run),
    status: pickWorstStatus({ ...all.ended, failed: all.ended.failed - unanswered }),
    interval: (part) => (part === undefined ? all : parts.get(part))?.interval ?? null,
    failures,
    wrong,
    team: summary.team,
  };
}

function buildBenchSummary(
  { all, parts, elapsedMs, team }: Summary,
  earlier: AttemptSum,
  { metrics, wallSeconds }: { readonly metrics: RunMetrics; readonly wallSeconds: number },
): BenchSummary {
  const before = earlier.traffic;
  const { cached, cached_use } = all.figures();
  return {
    run_id: metrics.run_id,
    team: metrics.team,
    adapter: metrics.adapter,
    engine: metrics.engine,
    balanced: metrics.ledger.balanced,
    token_sum: metrics.token_sum + before.token_sum,
    bytes_tx: metrics.bytes_tx + before.bytes_tx,
    bytes_rx: metrics.bytes_rx + before.bytes_rx,
    pkt_cnt: metrics.pkt_cnt + before.pkt_cnt,
    ...addModels(metrics, before),
    resumed: earlier.attempts || undefined,
    ...summarizePart(all),
    timeout: all.ended.timeout,
    failed: all.ended.failed,
    exact_match: all.mean('exact_match'),
    quality_score: all.mean('quality_score'),
    tasks_per_s: wallSeconds > 0 ? toMicroseconds((all.attempts - earlier.attempts) / wallSeconds) : 0,
    p50_ms: elapsedMs.percentile(0.5),
    p95_ms: elapsedMs.percentile(0.95),
    by_part: parts.map(summarizePart),
    cached: cached || undefined,
    cached_use,
    cycles: team.cycles,
    pass_at: team.pass_at,
    pass_hat: team.pass_hat,
  };
}

function summarizePart(sum: AttemptSum): PartSummary {
  return {
    tasks: sum.attempts,
    answered: sum.ended.answered,
    normalized_em: sum.mean('normalized_em'),
    f1: sum.mean('f1'),
    rouge_l: sum.mean('rouge_l'),
  };
}

/** Adds the model usage of two runs of a batch; empty if neither had a model. */
function addModels(a: Partial<ModelSums>, b: Partial<ModelSums>): Partial<ModelSums> {
  if (a.model_calls === undefined && b.model_calls === undefined) return {};
  return addModelSums(a, b);
}
