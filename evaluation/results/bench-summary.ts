import type { Task } from '@gaia-mesh/core/contracts/task.ts';
import { addModelSums, type ModelSums, NO_MODELS } from '@gaia-mesh/core/contracts/usage.ts';
import { pickWorstStatus, type StatusCounts, type TaskStatus } from '@gaia-mesh/core/hub/tasks/task-clock.ts';
import { toMicroseconds } from '@gaia-mesh/core/run/metrics/metrics.ts';
import { Samples } from '@gaia-mesh/core/run/metrics/samples.ts';
import type { Attempt } from '../attempts/attempt.ts';
import type { Interval } from '../statistics/inference/confidence.ts';
import { computeWilson } from '../statistics/inference/confidence.ts';
import type { ResourceUse } from './figures.ts';

/** Mean scores of a group of tasks; null if no true answer is known. */
interface PartSummary {
  readonly tasks: number;
  readonly answered: number;
  readonly normalized_em: number | null;
  readonly f1: number | null;
  readonly rouge_l: number | null;
}

/** Summary of a batch of tasks. Model usage is present only in runs with a model. */
export interface BatchSummary extends PartSummary, Partial<ModelSums> {
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
  /** Answers from the cache, which took nothing in this run, and what they took when they were asked. */
  readonly cached?: number | undefined;
  readonly cached_use?: ResourceUse | undefined;
  /** Summaries by part, see {@link listTaskParts}. */
  readonly by_part: Readonly<Record<string, PartSummary>>;
}

const MEASURES = ['normalized_em', 'f1', 'rouge_l', 'exact_match', 'quality_score'] as const;
type Measure = (typeof MEASURES)[number];
const SUMS = ['token_sum', 'bytes_tx', 'bytes_rx', 'pkt_cnt'] as const;
type Sum = (typeof SUMS)[number];

/** Adds the model usage of two runs of a batch; empty if neither had a model. */
function withModels(a: Partial<ModelSums>, b: Partial<ModelSums>): Partial<ModelSums> {
  if (a.model_calls === undefined && b.model_calls === undefined) return {};
  return addModelSums({ ...NO_MODELS, ...a }, { ...NO_MODELS, ...b });
}

type Parted = Pick<Task, 'taskId' | 'source' | 'level'>;

/**
 * Returns the parts that a task counts in: its id up to `-<last part>`, its source up to ` / `, and its level, if it has them.
 */
function listTaskParts(task: Parted): string[] {
  const dash = task.taskId.lastIndexOf('-');
  const parts = [dash > 0 ? task.taskId.slice(0, dash) : task.taskId];
  if (task.source !== undefined) parts.push(task.source.split(' / ')[0] ?? task.source);
  if (task.level !== undefined) parts.push(task.level);
  return [...new Set(parts)];
}

class Group {
  readonly #sums = new Map<Measure, { sum: number; count: number }>();
  readonly #status: Record<TaskStatus, number> = { answered: 0, timeout: 0, failed: 0 };
  tasks = 0;

  get statuses(): StatusCounts {
    return this.#status;
  }

  add(result: Attempt): void {
    this.tasks += 1;
    this.#status[result.ended ?? result.status] += 1;
    for (const measure of MEASURES) {
      const value = result[measure];
      if (value === null) continue;
      const entry = this.#sums.get(measure) ?? { sum: 0, count: 0 };
      entry.sum += value;
      entry.count += 1;
      this.#sums.set(measure, entry);
    }
  }

  count(status: TaskStatus): number {
    return this.#status[status];
  }

  mean(measure: Measure): number | null {
    const entry = this.#sums.get(measure);
    return entry === undefined ? null : entry.sum / entry.count;
  }

  /** The 95 % interval of exact matches (Wilson); null if no true answer is known. */
  get interval(): Interval | null {
    const { sum = 0, count = 0 } = this.#sums.get('normalized_em') ?? {};
    return count === 0 ? null : computeWilson(sum, count);
  }

  part(): PartSummary {
    return {
      tasks: this.tasks,
      answered: this.count('answered'),
      normalized_em: this.mean('normalized_em'),
      f1: this.mean('f1'),
      rouge_l: this.mean('rouge_l'),
    };
  }
}

/** Adds up results as tasks end. Its memory does not grow with their number. */
export class SummaryBuilder {
  readonly #all = new Group();
  readonly #parts = new Map<string, Group>();
  readonly #elapsedMs = new Samples();
  readonly #earlier = { tasks: 0, token_sum: 0, bytes_tx: 0, bytes_rx: 0, pkt_cnt: 0 };
  #earlierModels: Partial<ModelSums> = {};

  /** Adds a result of the run that this one resumes. */
  addEarlier(task: Parted, result: Attempt): void {
    this.add(task, result);
    this.#earlier.tasks += 1;
    for (const name of SUMS) this.#earlier[name] += result[name];
    this.#earlierModels = withModels(this.#earlierModels, result);
  }

  get status(): TaskStatus {
    return pickWorstStatus(this.#all.statuses);
  }

  add(task: Parted, result: Attempt): void {
    this.#all.add(result);
    this.#elapsedMs.add(result.elapsed_ms);
    for (const part of listTaskParts(task)) {
      let group = this.#parts.get(part);
      if (group === undefined) {
        group = new Group();
        this.#parts.set(part, group);
      }
      group.add(result);
    }
  }

  /** Returns the interval of `normalized_em` for a part, or for all tasks. */
  interval(part?: string): Interval | null {
    return (part === undefined ? this.#all : this.#parts.get(part))?.interval ?? null;
  }

  /** @param sums sums of this run alone, without the results of an earlier one */
  summary(
    run: Pick<BatchSummary, 'run_id' | 'team' | 'adapter' | 'engine' | 'balanced'>,
    sums: Pick<BatchSummary, Sum> & Partial<ModelSums>,
    wallMs: number,
  ): BatchSummary {
    const earlier = this.#earlier;
    const all = this.#all;
    return {
      ...run,
      token_sum: sums.token_sum + earlier.token_sum,
      bytes_tx: sums.bytes_tx + earlier.bytes_tx,
      bytes_rx: sums.bytes_rx + earlier.bytes_rx,
      pkt_cnt: sums.pkt_cnt + earlier.pkt_cnt,
      ...withModels(sums, this.#earlierModels),
      resumed: earlier.tasks > 0 ? earlier.tasks : undefined,
      ...all.part(),
      timeout: all.count('timeout'),
      failed: all.count('failed'),
      exact_match: all.mean('exact_match'),
      quality_score: all.mean('quality_score'),
      tasks_per_s: wallMs > 0 ? toMicroseconds(((all.tasks - earlier.tasks) * 1000) / wallMs) : 0,
      p50_ms: this.#elapsedMs.percentile(0.5),
      p95_ms: this.#elapsedMs.percentile(0.95),
      by_part: Object.fromEntries([...this.#parts].map(([name, group]) => [name, group.part()])),
    };
  }
}
