import type { ModelSums } from '../../contracts/usage.ts';
import type { RunWarning } from '../../contracts/warning.ts';
import type { AcknowledgedDelivery } from '../../hub/delivery/acknowledged.ts';
import type { Link, LinkCounts } from '../../hub/link.ts';
import type { MeshNetwork } from '../../hub/mesh-network.ts';
import { pickWorstStatus, type TaskStatus } from '../../hub/tasks/task-clock.ts';
import type { RunOptions, TaskEnd } from '../run-options.ts';
import type { RunMetrics } from './metrics-schema.ts';
import type { NOT_RECORDED } from './recorded-metrics.ts';
import type { RunLedger } from './run-ledger.ts';
import type { TokenLedgerFigures } from './token-ledger.ts';

/** The part of a task's end that the metrics of a run count. */
type CountedEnd = Pick<TaskEnd, 'status' | 'answer' | 'reason' | 'elapsedMs' | 'scores'>;

/** Collects the results of tasks for `metrics.json` as they end. */
export class RunTally {
  readonly #scores = new Map<string, { sum: number; count: number }>();
  readonly #status: Record<TaskStatus, number> = { answered: 0, timeout: 0, failed: 0 };
  tasks = 0;
  last: CountedEnd | undefined;

  add(end: CountedEnd): void {
    this.tasks += 1;
    this.last = end;
    this.#status[end.status] += 1;
    for (const [name, value] of Object.entries(end.scores)) {
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
    return pickWorstStatus(this.#status);
  }

  /** Returns the mean over the tasks that have the measure; null if none has it. */
  mean(measure: string): number | null {
    const entry = this.#scores.get(measure);
    return entry === undefined ? null : entry.sum / entry.count;
  }
}

interface RunFacts {
  readonly runId: string;
  readonly network: MeshNetwork;
  readonly ledger: RunLedger;
  readonly models: ModelSums | undefined;
  readonly tokenLedger: TokenLedgerFigures | undefined;
  readonly faults: RunMetrics['faults'] | undefined;
  /** Present only with acknowledged delivery. */
  readonly acknowledged: AcknowledgedDelivery | undefined;
  readonly warnings: readonly RunWarning[];
  /** Wall time of a batch in milliseconds. */
  readonly wallMs: number;
  readonly isBatch: boolean;
}

/** Builds `metrics.json` without the times, which come from the recording later. */
export function buildRunMetrics(
  tally: RunTally,
  {
    adapter,
    team,
    engine,
    unseen,
    network: between,
  }: Pick<RunOptions, 'adapter' | 'team' | 'engine' | 'unseen' | 'network'>,
  facts: RunFacts,
): Omit<RunMetrics, keyof typeof NOT_RECORDED> {
  const { last } = tally;
  const { network, ledger, faults, acknowledged } = facts;
  const links = [...network.formerLinks, ...network.links];
  const isSingle = !facts.isBatch && last !== undefined;
  return {
    schema_version: 1,
    run_id: facts.runId,
    status: tally.status,
    answer: isSingle ? last.answer : null,
    reason: isSingle ? last.reason : undefined,
    adapter: adapter.name,
    team: team.name,
    engine: engine.name,
    bytes_tx: ledger.written.packets,
    bytes_rx: ledger.read.packets,
    pkt_cnt: sumLinkCounts(links, 'packetsRx'),
    header_overhead: ledger.total.header_size - network.ownLine.header_size,
    token_sum: sumLinkCounts(links, 'tokens'),
    ...facts.models,
    token_ledger: facts.tokenLedger,
    elapsed_ms: toMicroseconds(isSingle ? last.elapsedMs : facts.wallMs),
    quality_score: tally.mean('quality_score'),
    exact_match: tally.mean('exact_match'),
    rouge_l: tally.mean('rouge_l'),
    normalized_em: tally.mean('normalized_em'),
    f1: tally.mean('f1'),
    token_source: engine.tokenSource,
    init_bytes: network.initBytes,
    session_bytes: ledger.written.session + ledger.read.session,
    ack_bytes: ledger.written.acks + ledger.read.acks,
    refused_packets: links.reduce(
      (sum, link) => sum + link.counts.refusedPackets + (link.ledgerReport?.refused.packets ?? 0),
      0,
    ),
    tasks: tally.tasks,
    answered: tally.answered,
    warnings: facts.warnings,
    agents: network.links.map((link) => {
      const own = links.filter(({ node }) => node.id === link.node.id);
      return buildAgentMetrics(link, own, unseen?.has(link.node.id) === true);
    }),
    packet_types: Object.fromEntries(network.typeCounts),
    ledger,
    network: between == null ? undefined : { rtt_ms: between.rttMs, bits_per_s: between.bitsPerS },
    faults,
    delivery: acknowledged && buildDeliveryMetrics(acknowledged, links),
  };
}

/**
 * Builds the metrics of an agent. `current` is its present link, `own` are all its links: it may have been
 * restarted.
 */
function buildAgentMetrics(
  current: Link,
  own: readonly Link[],
  isUnseen: boolean,
): RunMetrics['agents'][number] {
  const { node, alive, fault, ledgerReport: report } = current;
  return {
    id: node.id,
    tool: node.tool,
    status: alive ? 'up' : 'lost',
    fault: fault?.message,
    packets_rx: sumLinkCounts(own, 'packetsRx'),
    bytes_rx: sumLinkCounts(own, 'bytesRx'),
    packets_tx: sumLinkCounts(own, 'packetsTx'),
    bytes_tx: sumLinkCounts(own, 'bytesTx'),
    tokens: isUnseen ? null : sumLinkCounts(own, 'tokens'),
    refused: sumLinkCounts(own, 'refusedPackets') + (report?.refused.packets ?? 0),
    session_bytes: sumLinkCounts(own, 'sessionRx') + sumLinkCounts(own, 'sessionTx'),
    tool_us: report === undefined ? null : report.sent.reduce((us, entry) => us + entry.tool_us, 0),
  };
}

function buildDeliveryMetrics(
  { counters }: AcknowledgedDelivery,
  links: readonly Link[],
): NonNullable<RunMetrics['delivery']> {
  const { noted, acknowledged, undeliverable, repeated, waiting } = counters;
  return {
    mode: 'acknowledged',
    noted: noted.packets,
    acknowledged: acknowledged.packets,
    undeliverable: undeliverable.packets,
    waiting,
    redelivered: repeated.packets,
    dropped: sumLinkCounts(links, 'repeatedPackets'),
  };
}

function sumLinkCounts(links: readonly Link[], key: keyof LinkCounts): number {
  return links.reduce((sum, { counts }) => sum + counts[key], 0);
}

/** Rounds milliseconds to the microsecond, the resolution of a monotonic clock. */
export function toMicroseconds(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
