import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { DELIVERIES, type Delivery } from '../../core/delivery.ts';
import { hasNatsServer, NatsServerProcess } from '../../core/nats/nats-server-process.ts';
import { taskLine } from '../../core/run/archive.ts';
import { type Comparison, compare } from '../../core/statistics/paired.ts';
import { Random } from '../../core/statistics/random.ts';
import { TRANSPORTS, type Transport } from '../../core/team.ts';
import { inFolder, runBench } from '../perf/measure.ts';
import { shippedQuestions } from '../perf/shipped-questions.ts';

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
export interface DeliveryRun {
  readonly p50Ms: number;
  readonly packets: number;
  readonly packetBytes: number;
  readonly sessionBytes: number;
  readonly ackBytes: number;
}

/** Runs of both deliveries over one transport. */
export interface TransportRuns {
  readonly transport: Transport;
  readonly runs: Readonly<Record<Delivery, readonly DeliveryRun[]>>;
  /** The median time of a task, acknowledged over at-most-once, round by round. */
  readonly time: Comparison;
}

export interface DeliveryFigures {
  readonly rounds: number;
  readonly tasks: number;
  /** Over NATS only where there is a server to start. */
  readonly transports: readonly TransportRuns[];
}

/** The same tasks with either delivery over each transport, a run of each in every round, in random order. */
export async function measureDelivery(rounds: number, tasks: number, seed = 1): Promise<DeliveryFigures> {
  const random = new Random(seed);
  const measured = TRANSPORTS.filter((transport) => transport === 'tcp' || hasNatsServer()).map(
    (transport) => ({
      transport,
      runs: { 'at-most-once': [], acknowledged: [] } as Record<Delivery, DeliveryRun[]>,
    }),
  );
  const kinds = measured.flatMap((one) => DELIVERIES.map((delivery) => ({ ...one, delivery })));
  await inFolder(async (folder) => {
    const file = path.join(folder, 'delivery-tasks.jsonl');
    writeFileSync(file, taskLines(tasks));
    const nats = measured.length > 1 ? await NatsServerProcess.start({ store: folder }) : undefined;
    const over = (transport: Transport) =>
      transport === 'nats' && nats !== undefined ? ['--nats-url', nats.url] : [];
    try {
      for (let round = 0; round < rounds; round++) {
        for (const { transport, delivery, runs } of random.shuffle(kinds))
          runs[delivery].push(await runOf(folder, file, ['--delivery', delivery, ...over(transport)]));
      }
    } finally {
      await nats?.stop();
    }
  });
  const transports = measured.map(({ transport, runs }) => {
    const times = (delivery: Delivery) => runs[delivery].map(({ p50Ms }) => p50Ms);
    return { transport, runs, time: compare(times('at-most-once'), times('acknowledged')) };
  });
  return { rounds, tasks, transports };
}

async function runOf(folder: string, file: string, options: readonly string[]): Promise<DeliveryRun> {
  const { stdout } = await runBench(folder, ['--tasks', file, ...options, '--json']);
  const metrics = metricsSchema.parse(JSON.parse(readFileSync(path.join(folder, 'metrics.json'), 'utf8')));
  return {
    p50Ms: summarySchema.parse(JSON.parse(stdout)).p50_ms,
    packets: metrics.pkt_cnt,
    packetBytes: metrics.bytes_tx + metrics.bytes_rx,
    sessionBytes: metrics.session_bytes,
    ackBytes: metrics.ack_bytes,
  };
}

function taskLines(count: number): string {
  const questions = shippedQuestions();
  const lines = Array.from({ length: count }, (_, i) => {
    const task = questions[i % questions.length];
    return task === undefined ? '' : taskLine({ ...task, taskId: `task-${String(i).padStart(4, '0')}` });
  });
  return lines.join('');
}
