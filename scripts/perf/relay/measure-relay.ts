import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import { createInterface } from 'node:readline';
import * as z from 'zod';
import { MeshError } from '../../../core/errors.ts';
import { freePort } from '../../../core/free-port.ts';
import { inFolder, started } from '../measure.ts';
import { compiled, scriptOf } from './programs.ts';
import { isBroker, type Target } from './targets.ts';

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
  /** Each agent is a Node process with the client that is used there; without it all are sockets of one process in C. */
  readonly areNode?: boolean;
  readonly seconds: number;
}

/** Of one agent on the way, and of all of them: not more than a slow target carries in a few seconds. */
const WINDOW_BYTES = 256 * 1024;
const ALL_BYTES = 4 * 1024 * 1024;
const ALL_PACKETS = 10_000;
const LARGEST_BYTES = 1024 * 1024;
/** What any wire puts around a packet. */
const MAX_HEAD_BYTES = 64;
const WARM_S = 0.5;
/** The agents' own code is compiled meanwhile, too. */
const NODE_WARM_S = 1;
/** One packet in flight, before a fixed rate: its code gets hot slowly, and its compilation would be the tail that is measured. */
const RATE_WARM_S = 2;
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
  return inFolder(async (folder) => {
    const children: ChildProcess[] = [];
    const start = (command: readonly string[]) => {
      const [program = '', ...options] = command;
      const child = started(spawn(program, options, { stdio: ['pipe', 'pipe', 'ignore'] }));
      child.on('error', () => undefined);
      children.push(child);
      return { child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() };
    };
    try {
      const settings = settingsOf(target, load);
      const generator =
        load.areNode === true ? [process.execPath, scriptOf('client-load.ts')] : [await compiled('load')];
      const fail = (what: string) => new MeshError('io', `${target.name}, ${settings.join(' ')}: ${what}`);
      if (isBroker(target)) {
        const port = await freePort();
        const { child } = start(target.command([String(port)], folder));
        child.stdout?.resume();
        await listening(port, fail);
        const { lines } = start([...generator, ...settings, `port=${port}`, `pid=${child.pid}`]);
        return checked(await lastLine(lines, fail), fail);
      }
      const { child, lines } = start([...generator, ...settings]);
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
    window: windowBytesOf(load),
    rate: load.rate ?? 0,
    stuck: load.isOneStuck === true ? 1 : 0,
    warm: warmSecondsOf(load),
    seconds: load.seconds,
  }).map(([key, value]) => `${key}=${value}`);
}

/** Bytes that each agent may have on the way: more than one packet, but for the largest. */
function windowBytesOf({ agents, bytes }: Load): number {
  const few = bytes < LARGEST_BYTES ? 2 * (bytes + MAX_HEAD_BYTES) : bytes;
  const share = Math.min(ALL_BYTES, ALL_PACKETS * bytes) / agents;
  return Math.max(few, Math.min(WINDOW_BYTES, Math.floor(share)));
}

/** What is let pass before the measurement begins. */
function warmSecondsOf({ isOneStuck, areNode, rate }: Load): number {
  if (rate !== undefined) return RATE_WARM_S;
  if (isOneStuck === true) return 0;
  return areNode === true ? NODE_WARM_S : WARM_S;
}

/** What one measurement takes on an idle machine, about. `isSlow`: it carries some 100,000 packets a second, others a GB. */
export function secondsOf(load: Load, isSlow: boolean): number {
  const deliveredBytes = load.agents * (load.agents - 1) * windowBytesOf(load);
  const ending = Math.max(deliveredBytes / 1e9, isSlow ? deliveredBytes / load.bytes / 1e5 : 0);
  return warmSecondsOf(load) + load.seconds + ending + (load.areNode === true ? 1.2 : 0.3);
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
