import type { LedgerLine } from '../../contracts/ledger.ts';
import type { ModelSums } from '../../contracts/usage.ts';
import type { TypeCounts } from '../../hub/authorizer.ts';
import type { Link } from '../../hub/link.ts';
import { type TaskOutcome, type TaskStatus, worstStatus } from '../../hub/tasks/task-clock.ts';
import { agentMetrics } from './agent-metrics.ts';
import type { DeliveryMetrics } from './delivery-metrics.ts';
import type { FaultMetrics } from './fault-metrics.ts';
import type { RunMetrics, Scores } from './metrics-schema.ts';
import type { RunLedger } from './run-ledger.ts';
import type { TokenLedgerFigures } from './token-ledger.ts';

/** Collects, while tasks end, what `metrics.json` says of them. */
export class RunTally {
  readonly #scores = new Map<string, { sum: number; count: number }>();
  readonly #status: Record<TaskStatus, number> = { answered: 0, timeout: 0, failed: 0 };
  tasks = 0;
  last: TaskOutcome | undefined;

  add(outcome: TaskOutcome, scores: Scores): void {
    this.tasks += 1;
    this.last = outcome;
    this.#status[outcome.status] += 1;
    for (const [name, value] of Object.entries(scores)) {
      if (value === null) continue;
      const entry = this.#scores.get(name) ?? { sum: 0, count: 0 };
      entry.sum += value;
      entry.count += 1;
      this.#scores.set(name, entry);
    }
  }

  get answered(): number {
    return this.#status.answered;
  }

  get status(): TaskStatus {
    return worstStatus(this.#status);
  }

  /** Mean over the tasks that have the measure; null where none has. */
  mean(measure: string): number | null {
    const entry = this.#scores.get(measure);
    return entry === undefined ? null : entry.sum / entry.count;
  }
}

interface RunFacts {
  readonly runId: string;
  readonly adapter: string;
  readonly team: string;
  readonly engine: string;
  readonly tokenSource: RunMetrics['token_source'];
  readonly links: readonly Link[];
  /** Links that agents had before they were started again. */
  readonly formerLinks: readonly Link[];
  readonly typeCounts: ReadonlyMap<string, TypeCounts>;
  readonly initBytes: number;
  /** What the hub itself sent. */
  readonly ownLine: LedgerLine;
  readonly ledger: RunLedger;
  readonly models: ModelSums | undefined;
  readonly tokenLedger: TokenLedgerFigures | undefined;
  readonly faults: FaultMetrics | undefined;
  /** Ids of agents that hand work on to others: nobody knows their tokens. */
  readonly unseen?: ReadonlySet<string> | undefined;
  readonly delivery: DeliveryMetrics | undefined;
  /** Wall time of a batch. */
  readonly wallMs: number;
  readonly isBatch: boolean;
}

/** What `metrics.json` says, but for times, which the recording tells later. */
export function runMetrics(
  tally: RunTally,
  facts: RunFacts,
): Omit<RunMetrics, 'time_us' | 'hops' | 'recording'> {
  const { last } = tally;
  const { ledger, links: current, formerLinks, faults, delivery } = facts;
  const links = [...formerLinks, ...current];
  const isSingle = !facts.isBatch && last !== undefined;
  return {
    schema_version: 1,
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
    header_overhead: ledger.total.header_size - facts.ownLine.header_size,
    token_sum: links.reduce((sum, link) => sum + link.counts.tokens, 0),
    ...facts.models,
    ...(facts.tokenLedger === undefined ? {} : { token_ledger: facts.tokenLedger }),
    elapsed_ms: toMicroseconds(isSingle ? last.elapsedMs : facts.wallMs),
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
      return agentMetrics(link, former, facts.unseen ?? new Set());
    }),
    packet_types: Object.fromEntries(facts.typeCounts),
    ledger,
    ...(faults === undefined ? {} : { faults }),
    ...(delivery === undefined ? {} : { delivery }),
  };
}

/** Milliseconds to the microsecond: what a monotonic clock can tell. */
export function toMicroseconds(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
