import type { Command } from 'commander';
import * as z from 'zod';
import { DELIVERIES, type DeliveryMode } from '../../core/wire/delivery.ts';
import { median } from '../../evaluation/statistics/inference/quantile.ts';
import { type Comparison, compare } from '../../evaluation/statistics/paired.ts';
import type { MeasuredPart } from '../../evaluation/terminal/docs-page.ts';
import { markdownTable } from '../../evaluation/terminal/markdown-table.ts';
import { count, percent, table } from '../../evaluation/terminal/table.ts';
import { positiveInteger } from '../../scripts/command-line/option-values.ts';
import { inFolder, metricsIn, runBench, shippedQuestions, writeTasks } from '../measure/bench-runs.ts';
import { type PublishOptions, publisher } from '../measure/publish.ts';
import { interleaved, ratioText } from '../measure/rounds.ts';

interface DeliveryOptions extends PublishOptions {
  readonly rounds: number;
  readonly tasks: number;
}

export function delivery(command: Command): void {
  command
    .option('--rounds <n>', 'runs of each', positiveInteger, 9)
    .option('--tasks <n>', 'tasks of a run', positiveInteger, 40)
    .option('--json', 'print the figures as one JSON value')
    .option('--write', 'write them to docs/delivery.md')
    .action(run);
}

async function run({ rounds, tasks, ...options }: DeliveryOptions): Promise<void> {
  const publish = publisher('docs/delivery.md', options);
  const report = await measureDelivery(rounds, tasks);
  const text = `${table(deliveryRows(report))}\n\n${timeLine(report)}`;
  await publish({ report, text, part: deliveryPart(report) });
}

const summarySchema = z.object({ p50_ms: z.number() });
const metricsSchema = z.object({
  bytes_tx: z.int(),
  bytes_rx: z.int(),
  pkt_cnt: z.int(),
  session_bytes: z.int(),
  ack_bytes: z.int(),
  ledger: z.object({ balanced: z.literal(true) }),
});

/** One batch of tasks. Bytes are whole frames, in both directions together. */
interface DeliveryRun {
  readonly p50Ms: number;
  readonly packets: number;
  readonly packetBytes: number;
  readonly sessionBytes: number;
  readonly ackBytes: number;
}

/** Runs of both delivery modes. */
interface DeliveryRuns {
  readonly rounds: number;
  readonly tasks: number;
  readonly runs: Readonly<Record<DeliveryMode, readonly DeliveryRun[]>>;
  /** The median time of a task, acknowledged over at-most-once, round by round. */
  readonly time: Comparison;
}

/** The same tasks with either delivery mode. */
function measureDelivery(rounds: number, tasks: number): Promise<DeliveryRuns> {
  return inFolder(async (folder, signal) => {
    const file = writeTasks(folder, shippedQuestions(), tasks);
    const targets = DELIVERIES.map(
      (delivery) => [delivery, () => runOf(folder, ['--tasks', file, '--delivery', delivery])] as const,
    );
    const samples = await interleaved(Object.fromEntries(targets), { rounds, signal, shownAs: 'rounds' });
    const of = (delivery: DeliveryMode) => samples[delivery] ?? [];
    const times = (delivery: DeliveryMode) => of(delivery).map(({ p50Ms }) => p50Ms);
    return {
      rounds,
      tasks,
      runs: { 'at-most-once': of('at-most-once'), acknowledged: of('acknowledged') },
      time: compare(times('at-most-once'), times('acknowledged')),
    };
  });
}

async function runOf(folder: string, options: readonly string[]): Promise<DeliveryRun> {
  const { stdout } = await runBench(folder, [...options, '--json']);
  const metrics = metricsIn(folder, metricsSchema);
  return {
    p50Ms: summarySchema.parse(JSON.parse(stdout)).p50_ms,
    packets: metrics.pkt_cnt,
    packetBytes: metrics.bytes_tx + metrics.bytes_rx,
    sessionBytes: metrics.session_bytes,
    ackBytes: metrics.ack_bytes,
  };
}

const HEAD = ['delivery', 'packets', 'packet bytes', 'handshake and ledger', 'acknowledgements'];

/** One row a delivery mode; the first is the heading. Bytes are exact where all runs have the same, else from – to. */
function deliveryRows({ runs }: DeliveryRuns): string[][] {
  const rows = DELIVERIES.map((delivery) => rowOf(delivery, runs[delivery]));
  return [[...HEAD, 'of packet bytes', 'task, median'], ...rows];
}

function rowOf(delivery: DeliveryMode, runs: readonly DeliveryRun[]): string[] {
  const range = (of: (run: DeliveryRun) => number) => {
    const [low, high] = [Math.min(...runs.map(of)), Math.max(...runs.map(of))];
    return low === high ? count(low) : `${count(low)} – ${count(high)}`;
  };
  return [
    delivery,
    range((run) => run.packets),
    range((run) => run.packetBytes),
    range((run) => run.sessionBytes),
    range((run) => run.ackBytes),
    percent(median(runs.map((run) => run.ackBytes / run.packetBytes))),
    `${median(runs.map((run) => run.p50Ms)).toFixed(1)} ms`,
  ];
}

function timeLine({ time }: DeliveryRuns): string {
  return `Time of a task, acknowledged over at-most-once: ${ratioText(time)}.`;
}

/** The measured part of `docs/delivery.md`. */
function deliveryPart(runs: DeliveryRuns): MeasuredPart {
  return {
    facts: `default team, adapter json, ${runs.tasks} tasks of the shipped documents a run, four at a time; ${runs.rounds} rounds`,
    body: `${markdownTable(deliveryRows(runs))}\n\n${timeLine(runs)}`,
    limits: [
      'Loopback is not a network: where an acknowledgement has a way to go, waiting for a mailbox takes longer.',
    ],
  };
}
