import type { Command } from 'commander';
import * as z from 'zod';
import { TRANSPORTS, type Transport } from '../../core/contracts/team.ts';
import { hasNatsServer, NatsServerProcess } from '../../core/transports/nats/nats-server-process.ts';
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
  const text = `${table(deliveryRows(report))}\n\n${timeLines(report)}`;
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

/** Runs of both delivery modes over one transport. */
interface TransportRuns {
  readonly transport: Transport;
  readonly runs: Readonly<Record<DeliveryMode, readonly DeliveryRun[]>>;
  /** The median time of a task, acknowledged over at-most-once, round by round. */
  readonly time: Comparison;
}

interface DeliveryRuns {
  readonly rounds: number;
  readonly tasks: number;
  /** Over NATS only where there is a server to start. */
  readonly transports: readonly TransportRuns[];
}

/** The same tasks with either delivery mode over each transport. */
function measureDelivery(rounds: number, tasks: number): Promise<DeliveryRuns> {
  return inFolder(async (folder, signal) => {
    const nats = hasNatsServer() ? await NatsServerProcess.start({ store: folder }) : undefined;
    const transports = TRANSPORTS.filter((transport) => transport === 'tcp' || nats !== undefined);
    const file = writeTasks(folder, shippedQuestions(), tasks);
    const targets = transports.flatMap((transport) =>
      DELIVERIES.map((delivery) => {
        const over = transport === 'nats' && nats !== undefined ? ['--nats-url', nats.url] : [];
        const run = () => runOf(folder, ['--tasks', file, '--delivery', delivery, ...over]);
        return [`${transport} ${delivery}`, run] as const;
      }),
    );
    try {
      const samples = await interleaved(Object.fromEntries(targets), {
        ...{ rounds, signal, shownAs: 'rounds' },
      });
      return {
        rounds,
        tasks,
        transports: transports.map((transport) => {
          const of = (delivery: DeliveryMode) => samples[`${transport} ${delivery}`] ?? [];
          const runs = { 'at-most-once': of('at-most-once'), acknowledged: of('acknowledged') };
          const times = (delivery: DeliveryMode) => runs[delivery].map(({ p50Ms }) => p50Ms);
          return { transport, runs, time: compare(times('at-most-once'), times('acknowledged')) };
        }),
      };
    } finally {
      await nats?.stop();
    }
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
function deliveryRows({ transports }: DeliveryRuns): string[][] {
  const rows = transports.flatMap(({ transport, runs }) =>
    DELIVERIES.map((delivery) => rowOf(transport, delivery, runs[delivery])),
  );
  return [[...HEAD, 'of packet bytes', 'task, median'], ...rows];
}

function rowOf(transport: Transport, delivery: DeliveryMode, runs: readonly DeliveryRun[]): string[] {
  const range = (of: (run: DeliveryRun) => number) => {
    const [low, high] = [Math.min(...runs.map(of)), Math.max(...runs.map(of))];
    return low === high ? count(low) : `${count(low)} – ${count(high)}`;
  };
  return [
    transport === 'nats' ? `${delivery}, over NATS` : delivery,
    range((run) => run.packets),
    range((run) => run.packetBytes),
    range((run) => run.sessionBytes),
    range((run) => run.ackBytes),
    percent(median(runs.map((run) => run.ackBytes / run.packetBytes))),
    `${median(runs.map((run) => run.p50Ms)).toFixed(1)} ms`,
  ];
}

/** One sentence a transport. */
function timeLines({ transports }: DeliveryRuns): string {
  const lines = transports.map(({ transport, time }) => {
    const where =
      transport === 'nats'
        ? 'Over NATS, where a disk of the server keeps the outboxes'
        : 'Time of a task, acknowledged over at-most-once';
    return `${where}: ${ratioText(time)}.`;
  });
  return lines.join('\n');
}

/** The measured part of `docs/delivery.md`. */
function deliveryPart(runs: DeliveryRuns): MeasuredPart {
  return {
    facts: `default team, adapter json, ${runs.tasks} tasks of the shipped documents a run, four at a time; ${runs.rounds} rounds`,
    body: `${markdownTable(deliveryRows(runs))}\n\n${timeLines(runs)}`,
    limits: [
      'What NATS itself adds is in none of the bytes: they are those that the hub writes and reads.',
      'Loopback is not a network: where an acknowledgement has a way to go, waiting for a mailbox takes longer.',
    ],
  };
}
