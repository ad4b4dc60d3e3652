import type { Task } from '@gaia-mesh/core/contracts/task.ts';
import type { RunMetrics } from '@gaia-mesh/core/run/metrics/metrics-schema.ts';
import type { Attempt } from '../../attempts/attempt.ts';
import { toAttemptId } from '../../questions/question.ts';
import type { Interval } from '../../statistics/inference/confidence.ts';
import { type Column, formatColumns } from '../../terminal/columns.ts';
import { createStyles } from '../../terminal/print.ts';
import {
  count,
  formatDecimals,
  formatNetwork,
  formatPercent,
  formatShares,
  formatTable,
  toOneLine,
  wrapText,
} from '../../terminal/table.ts';
import type { BenchOutcome } from '../bench-summary.ts';
import { formatTokenLines } from '../token-shares.ts';
import { formatCycles } from './batch-table.ts';
import { buildHopTable } from './hop-columns.ts';

/** Minimum tasks of a part that is shown; scores of smaller parts are noise. `--json` has them all. */
const MIN_PART_TASKS = 10;
const COLUMNS = 100;

/** Formats the result of a run of one task for people. */
export function runReport(
  task: Pick<Task, 'question' | 'truths'>,
  metrics: RunMetrics,
  source?: { readonly place: string; readonly evidence: string | undefined },
): string {
  const { bold, dim, green, red } = createStyles(process.stdout);
  const truth = task.truths[0];
  const hops = buildHopTable(metrics);
  const isRight = metrics.normalized_em === 1;
  const answer =
    metrics.answer === null
      ? red(`none: ${toOneLine(metrics.reason ?? metrics.status, 400)}`)
      : bold(toOneLine(metrics.answer, 300));
  const mark = metrics.answer === null || truth === undefined ? '' : isRight ? green('  ✓') : red('  ✗');
  return [
    '',
    `Question  ${toOneLine(task.question, 300)}`,
    `Answer    ${answer}${mark}`,
    ...(truth === undefined ? [] : [`Truth     ${toOneLine(truth, 300)}`]),
    ...(source === undefined
      ? []
      : [
          `Source    ${toOneLine(source.place, 300)}${source.evidence === undefined ? '' : dim(`: ${toOneLine(source.evidence, 60)}`)}`,
        ]),
    '',
    formatColumns(hops.columns, hops.rows),
    '',
    formatTable(
      [
        [
          'elapsed ms',
          'in tools',
          'in mesh',
          'packets',
          'bytes rx',
          'bytes tx',
          'overhead',
          'tokens',
          'quality',
        ],
        [
          formatDecimals(metrics.elapsed_ms, 2),
          ...formatTimeCells(metrics),
          count(metrics.pkt_cnt),
          count(metrics.bytes_rx),
          count(metrics.bytes_tx),
          count(metrics.header_overhead),
          count(metrics.token_sum),
          formatDecimals(metrics.quality_score, 3),
        ],
      ],
      ['quality', 'tokens'],
    ),
    ...formatModelUse(metrics),
    ...formatConditions(metrics),
    ...formatDelivery(metrics),
    dim(formatLedger(metrics)),
    '',
  ].join('\n');
}

/**
 * Returns the milliseconds in tools and in the mesh along the chain of packets that led to the answer; dashes if they are not
 * known.
 */
function formatTimeCells({ time_us, elapsed_ms }: RunMetrics): [string, string] {
  if (time_us === null || time_us.unknown > 0) return ['–', '–'];
  const toolMs = (time_us.tool + time_us.engine) / 1000;
  return [formatDecimals(toolMs, 2), formatDecimals(elapsed_ms - toolMs, 2)];
}

/** A row of scores: all tasks, or a part of them. */
interface PartRow {
  readonly name: string;
  readonly part: Pick<BenchOutcome['json'], 'tasks' | 'answered' | 'normalized_em' | 'f1' | 'rouge_l'>;
  readonly interval: Interval | null;
}

const PART_COLUMNS: readonly Column<PartRow>[] = [
  { key: 'part', header: 'part', value: ({ name }) => toOneLine(name, 16) },
  { key: 'tasks', header: 'tasks', value: ({ part }) => part.tasks },
  { key: 'answered', header: 'answered', value: ({ part }) => part.answered },
  createScoreColumn('normalized_em', 'normalized EM'),
  {
    key: 'interval',
    header: '95 % interval',
    value: ({ interval }) => formatShares(interval ?? { low: null, high: null }),
  },
  createScoreColumn('f1', 'F1', 2),
  createScoreColumn('rouge_l', 'ROUGE-L', 1),
];

function createScoreColumn(
  key: 'normalized_em' | 'f1' | 'rouge_l',
  header: string,
  rank?: number,
): Column<PartRow> {
  return {
    key,
    header,
    value: ({ part }) => part[key],
    format: ({ part }) => formatPercent(part[key]),
    rank,
  };
}

const PACE_COLUMNS: readonly Column<BenchOutcome['json'] & RunMetrics>[] = [
  { key: 'tasks_per_s', header: 'tasks/s', value: ({ tasks_per_s }) => tasks_per_s, digits: 1 },
  { key: 'p50_ms', header: 'p50 ms', value: ({ p50_ms }) => p50_ms, digits: 1 },
  { key: 'p95_ms', header: 'p95 ms', value: ({ p95_ms }) => p95_ms, digits: 1 },
  { key: 'pkt_cnt', header: 'packets', value: ({ pkt_cnt }) => pkt_cnt },
  { key: 'bytes_rx', header: 'bytes rx', value: ({ bytes_rx }) => bytes_rx },
  { key: 'bytes_tx', header: 'bytes tx', value: ({ bytes_tx }) => bytes_tx },
  { key: 'header_overhead', header: 'overhead', value: ({ header_overhead }) => header_overhead, rank: 2 },
  { key: 'token_sum', header: 'tokens', value: ({ token_sum }) => token_sum, rank: 1 },
];

/** Formats the results of a batch for people. */
export function formatBatchReport(
  { json: summary, interval, team, wrong }: BenchOutcome,
  metrics: RunMetrics,
): string {
  const { dim } = createStyles(process.stdout);
  const parts = Object.entries(summary.by_part).filter(
    // A part with all tasks would repeat the first line.
    ([, part]) => part.tasks >= MIN_PART_TASKS && part.tasks < summary.tasks,
  );
  const cycleLines = formatCycles(team);
  return [
    '',
    formatColumns(PART_COLUMNS, [
      { name: 'all', part: summary, interval: interval() },
      ...parts.map(([name, part]) => ({ name, part, interval: interval(name) })),
    ]),
    ...(cycleLines.length === 0
      ? []
      : [
          wrapText(
            'The interval is by question: attempts at one question resemble each other and count as one value, so repeats narrow it less than more questions would, and may even widen it.',
          ),
        ]),
    '',
    // Traffic is that of this run.
    formatColumns(PACE_COLUMNS, [{ ...summary, ...metrics }]),
    ...formatModelUse(metrics),
    ...formatConditions(metrics),
    ...formatDelivery(metrics),
    ...cycleLines,
    ...(cycleLines.length === 0 ? [] : ['']),
    ...formatResumed(summary),
    ...formatCached(summary),
    dim(formatLedger(metrics)),
    '',
    ...wrong.lines(),
  ].join('\n');
}

function formatResumed({ resumed, tasks }: BenchOutcome['json']): string[] {
  if (resumed === undefined) return [];
  return [
    `Resumed   ${count(resumed)} of ${count(tasks)} tasks were finished before; traffic is that of the others.`,
    '',
  ];
}

function formatCached({ cached, cached_use, tasks }: BenchOutcome['json']): string[] {
  if (cached === undefined || cached_use === undefined) return [];
  const from = `Cached    ${count(cached)} of ${count(tasks)} answers are from the cache and took nothing in this run`;
  const { tokens, cost, packets, bytes, seconds } = cached_use;
  if (packets === null) return [`${from}; what they took before is not known`, ''];
  const known = (value: number | null) => (value === null ? '–' : count(value));
  return [
    `${from}. When they were asked they took`,
    `          ${known(tokens)} tokens, ${formatCost(cost)}, ${known(packets)} packets, ${known(bytes)} bytes and ${formatDecimals(seconds, 2)} s`,
    '',
  ];
}

function formatCost(cost: number | null): string {
  return cost === null ? 'cost not known' : `$${formatDecimals(cost, 4)}`;
}

/** Formats an attempt that failed or timed out. */
export function formatFailure({
  task_id,
  cycle,
  status,
  reason = '',
}: Pick<Attempt, 'task_id' | 'cycle' | 'status' | 'reason'>): string {
  const id = toAttemptId(task_id, cycle);
  return `${toOneLine(id, 40)}: ${status}: ${toOneLine(reason, COLUMNS)}`;
}

/** Formats model usage, including tasks without an answer; empty without a model. */
function formatModelUse({
  model_calls,
  prompt_tokens = 0,
  completion_tokens = 0,
  cost_usd = null,
  token_ledger,
}: RunMetrics): string[] {
  if (model_calls === undefined) return [];
  const cost = formatCost(cost_usd);
  return [
    '',
    `Model     ${count(model_calls)} calls, ${prompt_tokens === null ? '–' : count(prompt_tokens)} tokens in, ${completion_tokens === null ? '–' : count(completion_tokens)} out, ${cost}`,
    ...(token_ledger === undefined ? [] : formatTokenLines(token_ledger).map((line) => wrapText(line))),
    '',
  ];
}

/** Formats the cost and the effect of acknowledgements. */
function formatDelivery({ delivery, ack_bytes, bytes_tx, bytes_rx }: RunMetrics): string[] {
  if (delivery === undefined) return [];
  const { noted, acknowledged, undeliverable, waiting, redelivered, dropped } = delivery;
  const share = formatPercent(ack_bytes / (bytes_tx + bytes_rx));
  return [
    `Delivery  ${count(noted)} noted: ${count(acknowledged)} acknowledged, ${count(undeliverable)} undeliverable, ${count(waiting)} of ended tasks;`,
    `          ${count(redelivered)} delivered again, ${count(dropped)} sent again and dropped; acknowledgements took ${count(ack_bytes)} B (${share})`,
    '',
  ];
}

function formatLedger({ ledger, session_bytes, ack_bytes, recording }: RunMetrics): string {
  const { total, written, read, unbooked_bytes, connection } = ledger;
  if (!ledger.balanced)
    return wrapText(
      `The ledger does NOT balance, so these figures cannot be trusted: ${ledger.differences.join('; ')}`,
    );
  const parts = [
    `${count(total.payload)} payload`,
    `${count(total.envelope)} envelope`,
    `${count(total.payload_coding)} coding`,
    `${count(total.framing)} framing`,
    ...(unbooked_bytes === 0 ? [] : [`${count(unbooked_bytes)} that cannot be read`]),
  ];
  const where = connection === undefined ? 'the sockets' : 'the streams over NATS';
  const acks = ack_bytes === 0 ? '' : `, ${count(ack_bytes)} acknowledgements`;
  return [
    `Ledger: ${parts.join(' + ')} = ${count(total.wire + unbooked_bytes)} B sent once, with doc_init; ${where} wrote ` +
      `${count(written.sockets)} B and read ${count(read.sockets)} B, ${count(session_bytes)} of it handshake and ledger${acks}: balanced.`,
    ...(connection === undefined
      ? []
      : [
          `The connection to NATS wrote ${count(connection.written)} B and read ${count(connection.read)} B: ` +
            `${count(connection.written - written.sockets)} and ${count(connection.read - read.sockets)} are its own.`,
        ]),
    ...recording.missing.map((what) => `Not in the recording: ${what}.`),
  ]
    .map(wrapText)
    .join('\n');
}

/** Formats the network and the faults of a run for people; empty for a run without them. */
export function formatConditions(metrics: RunMetrics): string[] {
  const { network } = metrics;
  if (network === undefined) return formatFaults(metrics);
  const { rtt_ms: rttMs, bits_per_s: bitsPerS } = network;
  return [
    `Network   ${formatNetwork({ rttMs, bitsPerS })} between the hub and each agent`,
    '',
    ...formatFaults(metrics),
  ];
}

type FaultMetrics = NonNullable<RunMetrics['faults']>;

/** Formats injected faults, losses, recovery times and the answers under faults. */
function formatFaults({ faults, refused_packets }: RunMetrics): string[] {
  if (faults === undefined) return [];
  return [
    `Faults    ${faults.spec === null ? 'none asked for' : `${toOneLine(faults.spec, 300)}  (--fault-seed ${faults.seed})`}`,
    `Injected  ${injected(faults)}`,
    `Lost      ${losses(faults)}`,
    ...(faults.injected.corrupt > 0 || faults.injected.dup > 0
      ? [`Refused   ${count(refused_packets)} packets by those who got them`]
      : []),
    ...(faults.restart === 'on-failure' ? [`Recovery  ${recoveries(faults)}`] : []),
    `Answers   ${answers(faults.answers)}${faults.harmed.tasks > 0 ? `; of those with a delivery lost, corrupted or false ${answers(faults.harmed)}` : ''}`,
    '',
  ];
}

function injected({ injected: counts, deliveries, timed }: FaultMetrics): string {
  const parts = Object.entries(counts).flatMap(([kind, number]) =>
    number === 0 ? [] : [`${kind} ${count(number)}`],
  );
  const missed = timed.filter((record) => record.at_ms === null).map(({ fault }) => fault);
  const of = `${parts.join(', ') || 'nothing'} (${count(deliveries.offered.packets)} deliveries)`;
  return missed.length === 0 ? of : `${of}; the run was over before ${missed.join(', ')}`;
}

function losses({ lost, deliveries }: FaultMetrics): string {
  const { dropped, undeliverable } = deliveries;
  const packets = dropped.packets + undeliverable.packets;
  if (packets === 0) return 'nothing';
  const agents = lost.map((agent) => {
    const sum = agent.dropped + agent.undeliverable;
    return `${agent.id} ${agent.tool} ${count(sum)}`;
  });
  return `${count(packets)} ${packets === 1 ? 'delivery' : 'deliveries'} (${count(dropped.packets)} dropped, ${count(undeliverable.packets)} to agents that were gone), by agent: ${agents.join(', ')}`;
}

function recoveries({ recoveries: all }: FaultMetrics): string {
  if (all.length === 0) return 'no agent was lost';
  return all
    .map(({ agent, tool, took_ms, attempts }) => {
      const starts = attempts > 1 ? `, ${attempts} starts` : '';
      return took_ms === null
        ? `${agent} ${tool} did not come back${starts}`
        : `${agent} ${tool} back after ${formatDecimals(took_ms / 1000, 2)} s${starts}`;
    })
    .join('; ');
}

function answers({ tasks, answered, right }: FaultMetrics['answers']): string {
  const known = right === null ? '' : `, ${count(right)} right`;
  return `${count(answered)} of ${count(tasks)} reached the hub${known}`;
}
