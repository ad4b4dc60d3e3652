import type { Link } from '../hub/link.ts';
import { type TaskOutcome, type TaskStatus, worstStatus } from '../hub/task-clock.ts';
import type { TypeCounts } from '../hub/type-counts.ts';
import type { TimeSplit } from '../recording/timeline.ts';
import type { ModelSums } from '../usage.ts';
import { type AgentMetrics, agentMetrics } from './agent-metrics.ts';
import type { DeliveryMetrics } from './delivery-metrics.ts';
import type { FaultMetrics } from './fault-metrics.ts';
import type { RunLedger } from './run-ledger.ts';
import { Samples } from './samples.ts';
import { round, type TaskResult } from './task-result.ts';

/** Version of `metrics.json`. */
export const METRICS_VERSION = 1;

/**
 * One step of a task: from the arrival of the packet before (or the start of the broadcast) to the arrival of this one at the
 * hub. Microseconds; `tool_us` is the mean time in the sender's tool, `mesh_us` what the median leaves beside it.
 */
export interface HopMetrics {
  readonly type: string;
  readonly from: string;
  readonly packets: number;
  readonly latency_us: { readonly median: number | null; readonly p95: number | null };
  readonly tool_us: number | null;
  readonly mesh_us: number | null;
}

/**
 * `metrics.json`. A batch has sums over its tasks, mean scores, and the wall time as `elapsed_ms`. What models took is there only
 * in runs with a model.
 */
export interface RunMetrics extends Partial<ModelSums> {
  readonly schema_version: typeof METRICS_VERSION;
  readonly run_id: string;
  readonly status: TaskStatus;
  readonly answer: string | null;
  readonly reason?: string;
  readonly adapter: string;
  readonly team: string;
  readonly engine: string;
  readonly bytes_tx: number;
  readonly bytes_rx: number;
  readonly pkt_cnt: number;
  readonly header_overhead: number;
  readonly token_sum: number;
  readonly elapsed_ms: number;
  readonly quality_score: number | null;
  readonly exact_match: number | null;
  readonly rouge_l: number | null;
  readonly normalized_em: number | null;
  readonly f1: number | null;
  readonly token_source: string;
  readonly init_bytes: number;
  readonly session_bytes: number;
  readonly ack_bytes: number;
  readonly refused_packets: number;
  readonly tasks: number;
  readonly answered: number;
  readonly agents: readonly AgentMetrics[];
  readonly packet_types: Readonly<Record<string, TypeCounts>>;
  readonly hops: readonly HopMetrics[];
  /** Where the time went, by measurement; microseconds, summed over the tasks that were answered. */
  readonly time_us?: TimeSplit | null;
  readonly ledger: RunLedger;
  /** Only where faults, or restarts, were asked for. */
  readonly faults?: FaultMetrics;
  /** Only where deliveries are acknowledged. */
  readonly delivery?: DeliveryMetrics;
}

/** Collects, while tasks end, what `metrics.json` says of them. */
export class RunTally {
  readonly #hops = new Map<string, { type: string; from: string; latencyUs: Samples }>();
  readonly #sums = new Map<string, { sum: number; count: number }>();
  readonly #status: Record<TaskStatus, number> = { answered: 0, timeout: 0, failed: 0 };
  tasks = 0;
  last: TaskResult | undefined;

  add(result: TaskResult, outcome: TaskOutcome): void {
    this.tasks += 1;
    this.last = result;
    this.#status[result.status] += 1;
    for (const [name, value] of Object.entries(result)) {
      if (typeof value !== 'number') continue;
      const entry = this.#sums.get(name) ?? { sum: 0, count: 0 };
      entry.sum += value;
      entry.count += 1;
      this.#sums.set(name, entry);
    }
    for (const { type, from, latencyMs } of outcome.hops) {
      const key = `${from} ${type}`;
      let hop = this.#hops.get(key);
      if (hop === undefined) {
        hop = { type, from, latencyUs: new Samples() };
        this.#hops.set(key, hop);
      }
      hop.latencyUs.add(latencyMs * 1000);
    }
  }

  get answered(): number {
    return this.#status.answered;
  }

  get status(): TaskStatus {
    return worstStatus(this.#status);
  }

  sum(name: keyof TaskResult): number {
    return this.#sums.get(name)?.sum ?? 0;
  }

  /** Mean over the tasks that have the measure; null where none has. */
  mean(name: keyof TaskResult): number | null {
    const entry = this.#sums.get(name);
    return entry === undefined ? null : entry.sum / entry.count;
  }

  hops(links: readonly Link[]): HopMetrics[] {
    return [...this.#hops.values()].map(({ type, from, latencyUs }) => {
      const sent = links
        .find((link) => link.node.id === from)
        ?.books?.sent.find((entry) => entry.type === type);
      const toolUs = sent === undefined ? null : sent.tool_us / sent.line.packets;
      const median = latencyUs.percentile(0.5);
      return {
        type,
        from,
        packets: latencyUs.count,
        latency_us: { median: rounded(median), p95: rounded(latencyUs.percentile(0.95)) },
        tool_us: rounded(toolUs),
        mesh_us: toolUs === null || median === null ? null : Math.round(median - toolUs),
      };
    });
  }
}

export interface RunFacts {
  readonly runId: string;
  readonly adapter: string;
  readonly team: string;
  readonly engine: string;
  readonly tokenSource: string;
  readonly links: readonly Link[];
  /** Links that agents had before they were started again. */
  readonly formerLinks: readonly Link[];
  readonly typeCounts: ReadonlyMap<string, TypeCounts>;
  readonly initBytes: number;
  readonly ledger: RunLedger;
  readonly models: ModelSums | undefined;
  readonly faults: FaultMetrics | undefined;
  readonly delivery: DeliveryMetrics | undefined;
  /** Wall time of a batch. */
  readonly wallMs: number;
  readonly isBatch: boolean;
}

/** What `metrics.json` says. */
export function runMetrics(tally: RunTally, facts: RunFacts): RunMetrics {
  const { last } = tally;
  const { ledger, links: current, formerLinks, faults, delivery } = facts;
  const links = [...formerLinks, ...current];
  const isSingle = !facts.isBatch && last !== undefined;
  return {
    schema_version: METRICS_VERSION,
    run_id: facts.runId,
    status: tally.status,
    answer: isSingle ? last.answer : null,
    ...(isSingle && last.reason !== undefined ? { reason: last.reason } : {}),
    adapter: facts.adapter,
    team: facts.team,
    engine: facts.engine,
    bytes_tx: ledger.written.packets,
    bytes_rx: ledger.read.packets,
    pkt_cnt: links.reduce((sum, link) => sum + link.counts.packetsRx, 0),
    header_overhead: links.reduce(
      (sum, link) => sum + (link.books?.sent.reduce((bytes, { line }) => bytes + line.header_size, 0) ?? 0),
      0,
    ),
    token_sum: links.reduce((sum, link) => sum + link.counts.tokens, 0),
    ...facts.models,
    elapsed_ms: isSingle ? last.elapsed_ms : round(facts.wallMs),
    quality_score: tally.mean('quality_score'),
    exact_match: tally.mean('exact_match'),
    rouge_l: tally.mean('rouge_l'),
    normalized_em: tally.mean('normalized_em'),
    f1: tally.mean('f1'),
    token_source: facts.tokenSource,
    init_bytes: facts.initBytes,
    session_bytes: ledger.written.session + ledger.read.session,
    ack_bytes: ledger.written.acks + ledger.read.acks,
    refused_packets: links.reduce(
      (sum, link) => sum + link.counts.refusedPackets + (link.books?.refused.packets ?? 0),
      0,
    ),
    tasks: tally.tasks,
    answered: tally.answered,
    agents: current.map((link) => {
      const former = formerLinks.filter(({ node }) => node.id === link.node.id);
      return agentMetrics(link, former);
    }),
    packet_types: Object.fromEntries(facts.typeCounts),
    hops: tally.hops(current),
    ledger,
    ...(faults === undefined ? {} : { faults }),
    ...(delivery === undefined ? {} : { delivery }),
  };
}

function rounded(value: number | null): number | null {
  return value === null ? null : Math.round(value);
}
