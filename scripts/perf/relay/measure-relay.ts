import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import { createInterface } from 'node:readline';
import * as z from 'zod';
import { MeshError } from '../../../core/errors.ts';
import { inFolder } from '../measure.ts';
import { compiled } from './programs.ts';
import { freePort, type Target } from './targets.ts';

/** What the agents do. */
export interface Load {
  readonly agents: number;
  /** Of a packet, without the frame's prefix. */
  readonly bytes: number;
  /** Packets that each agent may have on the way; without it, as many as fit its window of bytes. */
  readonly inFlight?: number;
  /** Packets a second, of all agents together, at their times whatever comes back. */
  readonly rate?: number;
  /** The last agent takes no bytes. */
  readonly isOneStuck?: boolean;
  readonly seconds: number;
}

const WARM_S = 0.5;
/** A target that is not up after this time never will be. */
const START_TIMEOUT_MS = 10_000;

const sampleSchema = z.object({
  seconds: z.number(),
  /** Within the time. */
  delivered: z.number(),
  rate: z.number(),
  sent: z.number(),
  wanted: z.number(),
  came: z.number(),
  bad: z.number(),
  hub_cpu_s: z.number(),
  own_cpu_s: z.number(),
  idle_s: z.number(),
  hub_peak_mb: z.number(),
  /** When the stuck agent was cut off; −1 if it was not. */
  cut_s: z.number(),
  latency_us: z
    .object({ samples: z.number(), p50: z.number(), p99: z.number(), p999: z.number(), max: z.number() })
    .optional(),
  /** Deliveries in each tenth of a second. */
  tenths: z.array(z.number()),
});
const booksSchema = z.object({ packets: z.number(), tokens: z.number(), refused_packets: z.number() });

export type Sample = z.infer<typeof sampleSchema>;

/**
 * Lets `target` carry `load` once.
 *
 * @throws MeshError `io` when something was lost, damaged or miscounted, or does not come up
 */
export function measure(target: Target, load: Load): Promise<Sample> {
  const isBroker = target.wire !== 'frames' && target.wire !== 'bytes';
  return inFolder(async (folder) => {
    const children: ChildProcess[] = [];
    const start = (command: readonly string[]) => {
      const [program = '', ...options] = command;
      const child = spawn(program, options, { stdio: ['pipe', 'pipe', 'ignore'] });
      child.on('error', () => undefined);
      children.push(child);
      return { child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() };
    };
    try {
      const settings = settingsOf(target, load);
      const generator = await compiled('load');
      const fail = (what: string) => new MeshError('io', `${target.name}, ${settings.join(' ')}: ${what}`);
      if (isBroker) {
        const port = await freePort();
        const { child } = start(target.command([port], folder));
        child.stdout?.resume();
        await listening(Number(port), fail);
        const { lines } = start([generator, ...settings, `port=${port}`, `pid=${child.pid}`]);
        return checked(await lastLine(lines, fail), fail);
      }
      const { child, lines } = start([generator, ...settings]);
      const ports = String((await lines.next()).value).split(',');
      const hub = start(target.command(ports, folder));
      const ready = await hub.lines.next();
      if (ready.done) throw fail('it did not start');
      child.stdin?.write(`${hub.child.pid}\n`);
      const sample = checked(await lastLine(lines, fail), fail);
      if (target.keepsBooks === true) {
        hub.child.kill('SIGTERM');
        const books = booksSchema.parse(JSON.parse(await lastLine(hub.lines, fail)));
        const isRight = books.packets === sample.sent && books.tokens === sample.sent;
        if (!isRight || books.refused_packets > 0) {
          throw fail(
            `${sample.sent} packets of one token each were sent, and its books say ${JSON.stringify(books)}`,
          );
        }
      }
      return sample;
    } finally {
      for (const child of children) child.kill('SIGKILL');
      await Promise.all(
        children.map((child) =>
          child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined,
        ),
      );
    }
  });
}

function settingsOf({ wire }: Target, load: Load): string[] {
  return Object.entries({
    wire,
    agents: load.agents,
    size: load.bytes,
    inflight: load.inFlight ?? 0,
    rate: load.rate ?? 0,
    stuck: load.isOneStuck === true ? 1 : 0,
    warm: load.isOneStuck === true ? 0 : WARM_S,
    seconds: load.seconds,
  }).map(([key, value]) => `${key}=${value}`);
}

async function lastLine(lines: AsyncIterator<string>, fail: (what: string) => MeshError): Promise<string> {
  const { value, done } = await lines.next();
  if (done) throw fail('the load generator or the hub ended without a word');
  return value;
}

function checked(line: string, fail: (what: string) => MeshError): Sample {
  const sample = sampleSchema.parse(JSON.parse(line));
  if (sample.bad > 0) throw fail(`${sample.bad} packets were not what was sent`);
  if (sample.came !== sample.wanted) throw fail(`${sample.wanted} deliveries were due, ${sample.came} came`);
  return sample;
}

async function listening(port: number, fail: (what: string) => MeshError): Promise<void> {
  const deadlineMs = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    const socket = net.connect({ host: '127.0.0.1', port });
    const isUp = await new Promise((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    socket.destroy();
    if (isUp) return;
    if (performance.now() > deadlineMs) throw fail('it does not listen');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
