import { formatWarning } from '@gaia-mesh/core/contracts/warning.ts';
import { Timeline } from '@gaia-mesh/core/recording/timeline.ts';
import { count, formatDecimals, formatPercent, toOneLine } from '../../terminal/table.ts';
import type { QuestionsView } from '../gaia/questions-view.ts';
import { formatBytes, formatCounted, formatMs, formatRatio, formatShare } from '../wording.ts';
import { buildAnswersView } from './answers-view.ts';
import type { ArchivedMetrics, ArchivedRun } from './archived-run.ts';
import { type BytesView, buildBytesTable, buildByteWaterfall, listLedgerLines } from './byte-waterfall.ts';
import {
  buildDistribution,
  buildDistributionsTable,
  type DistributionsView,
  MIN_SAMPLES,
} from './distribution.ts';
import { buildLinksView, type LinksView } from './links-view.ts';
import { buildTasksView, type TasksView } from './tasks-view.ts';
import { buildTimeView, type TimeView } from './time-view.ts';

interface Fact {
  readonly name: string;
  readonly value: string;
}

export interface RunView {
  readonly name: string;
  readonly id: string;
  readonly title: string;
  readonly facts: readonly Fact[];
  /** Warning that the figures cannot be trusted; null if there is none. */
  readonly alarm: string | null;
  /** The losses of servers, agents and models outside of the mesh. */
  readonly warnings: readonly string[];
  readonly bytes: BytesView;
  readonly time: TimeView | null;
  readonly hops: DistributionsView | null;
  /** Answers of a batch. */
  readonly answers: QuestionsView | null;
  readonly tasks: TasksView | null;
  readonly links: LinksView | null;
}

/** A run as the page shows it. `number` is its place among the runs of the page, from 1. */
export async function runView(run: ArchivedRun, number: number): Promise<RunView> {
  const { metrics } = run;
  const lines = listLedgerLines(metrics.ledger.types, metrics.ledger.total);
  return {
    name: `Run ${number} · ${toOneLine(metrics.adapter, 60)}`,
    id: toOneLine(metrics.run_id, 60),
    title: formatRunTitle(run),
    facts: listRunFacts(metrics),
    alarm: findAlarm(metrics),
    warnings: metrics.warnings.map((warning) => toOneLine(formatWarning(warning), 600)),
    bytes: {
      finding: describeBytes(metrics),
      waterfalls: lines.map(([label, line]) => buildByteWaterfall(label, line)),
      table: buildBytesTable(lines),
    },
    time: buildTimeView(metrics.time_us, metrics.answered),
    hops: buildHopsView(run),
    answers: buildAnswersView(run),
    tasks: await buildTasksView(run),
    links: buildLinksView(run),
  };
}

function formatRunTitle({ metrics, results }: ArchivedRun): string {
  const { status, answer, reason, tasks, answered, elapsed_ms } = metrics;
  const time = formatMs(elapsed_ms);
  const scored = results.filter(({ normalized_em }) => normalized_em !== null);
  if (scored.length > 1) {
    const right = scored.filter(({ normalized_em }) => normalized_em === 1).length;
    return `${count(right)} of ${formatCounted(scored.length, 'task')} right (${formatShare(right / scored.length)}), in ${time}`;
  }
  if (answer !== null) return `Answered “${toOneLine(answer, 120)}” in ${time}`;
  if (tasks > 1) return `${count(answered)} of ${formatCounted(tasks, 'task')} answered in ${time}`;
  const why = reason === undefined ? '' : `: ${toOneLine(reason, 200)}`;
  return status === 'answered' ? `Answered in ${time}` : `No answer (${status}) after ${time}${why}`;
}

function listRunFacts(metrics: ArchivedMetrics): Fact[] {
  const { ledger, tasks, answered, quality_score, normalized_em } = metrics;
  return [
    { name: 'status', value: tasks > 1 ? `${metrics.status}, ${answered} of ${tasks}` : metrics.status },
    { name: 'normalized EM', value: formatPercent(normalized_em) },
    { name: 'team', value: toOneLine(metrics.team, 60) },
    { name: 'adapter', value: toOneLine(metrics.adapter, 60) },
    { name: 'engine', value: toOneLine(metrics.engine, 60) },
    { name: 'time', value: formatMs(metrics.elapsed_ms) },
    { name: 'packets', value: count(metrics.pkt_cnt) },
    { name: 'bytes rx', value: formatBytes(metrics.bytes_rx) },
    { name: 'bytes tx', value: formatBytes(metrics.bytes_tx) },
    { name: 'overhead', value: formatBytes(metrics.header_overhead) },
    { name: 'tokens', value: count(metrics.token_sum) },
    { name: 'quality', value: formatDecimals(quality_score, 3) },
    { name: 'ledger', value: ledger.balanced ? 'balanced' : 'does not balance' },
  ];
}

function findAlarm({ ledger }: ArchivedMetrics): string | null {
  if (ledger.balanced) return null;
  return `The ledger does not balance, so these figures cannot be trusted: ${toOneLine(ledger.differences.join('; '), 600)}`;
}

function describeBytes({ ledger: { types, total } }: ArchivedMetrics): string {
  if (total.wire === 0) return 'Not a byte was sent';
  const [largest] = Object.entries(types).sort(([, a], [, b]) => b.wire - a.wire);
  const beyond = `the wire carries ${formatRatio(total.wire / Math.max(1, total.payload))} the payload`;
  if (largest === undefined) return beyond;
  const [type, { wire }] = largest;
  return `${toOneLine(type, 40)} is ${formatShare(wire / total.wire)} of the bytes; ${beyond}`;
}

/** Steps of one kind that a chart has room for. */
const MAX_HOPS = 16;

/**
 * Builds the distribution of each step's duration: from the moment the packet that caused it reached the hub (for the document: began to be
 * sent) until the new one did. Returns null if no step was taken often enough.
 */
function buildHopsView({ recording }: ArchivedRun): DistributionsView | null {
  if (recording === null) return null;
  const tools = new Map(recording.header.agents.map(({ id, tool }) => [id, tool]));
  const steps = Map.groupBy(new Timeline(recording.packets).pieces(), ({ trace: { packet } }) => {
    return `${tools.get(packet.from) ?? packet.from} → ${packet.type}`;
  });
  const often = [...steps].filter(([, { length }]) => length >= MIN_SAMPLES);
  const distributions = often.slice(0, MAX_HOPS).flatMap(([label, pieces]) =>
    buildDistribution(
      label,
      pieces.map(({ us }) => us / 1000),
    ),
  );
  const [slowest] = distributions.toSorted((a, b) => b.medianMs - a.medianMs);
  if (slowest === undefined) return null;
  return {
    finding: `The slowest step is ${slowest.label}, with a median of ${formatMs(slowest.medianMs)}`,
    distributions,
    table: buildDistributionsTable(distributions),
  };
}
