import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { MAX_RECORDED_BYTES } from '@gaia-mesh/core/recording/frame-log.ts';
import { freePort } from '@gaia-mesh/core/testing/free-port.ts';
import { printError } from '@gaia-mesh/evaluation/terminal/print.ts';
import { listenOnPlace } from '@gaia-mesh/stacks/listen.ts';
import * as z from 'zod';
import { trackChild, useRunFolder } from '../measure/bench-runs.ts';
import { type Load, loadSettings } from './loads.ts';
import { type Sample, sampleSchema } from './sample.ts';
import { compileProgram, type RelayTarget } from './targets.ts';

/** Time limit for a target's start. */
const START_TIMEOUT_MS = 20_000;
/** Characters at the end of a target's standard error that are kept. */
const MAX_SAID = 300;

const countersSchema = z.object({ packets: z.number(), tokens: z.number(), refused_packets: z.number() });

/** First descriptor of the sockets in the load generator: its own channels come before. */
const FIRST_SOCKET = 3;

type Settings = Readonly<Record<string, string | number>>;
type Fail = (what: string) => MeshError;

/**
 * Lets `target` carry `load` once.
 *
 * @throws MeshError `io` when something was lost, damaged or miscounted, or does not come up
 */
export function carryLoad(target: RelayTarget, load: Load): Promise<Sample> {
  return useRunFolder(async (folder) => {
    let said = '';
    const fail: Fail = (what) =>
      new MeshError('io', `${target.name}, ${load.name}: ${what}${said && `; ${said}`}`);
    const children: ChildProcess[] = [];
    const start = (command: readonly string[]) => {
      const [program = '', ...options] = command;
      const env = { ...process.env, GAIA_MESH_SECRET: target.secret };
      const child = trackChild(spawn(program, options, { env, stdio: ['ignore', 'pipe', 'pipe'] }));
      child.on('error', () => undefined);
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        said = (said + text).slice(-MAX_SAID);
      });
      children.push(child);
      return child;
    };
    const program = await compileProgram('load');
    const settings = { wire: target.wire, ...loadSettings(load, target.name) };
    const generate = (more: Settings, sockets: readonly net.Socket[]) =>
      runLoad(program, { ...settings, ...more }, sockets);
    try {
      if (target.command === undefined) {
        const rate = (load.rate ?? 0) * (load.agents - 1);
        return parseSample(await generate({ agents: 2, rate }, await connectPair()), fail);
      }
      if (target.wire !== 'frames') {
        const port = await freePort();
        const broker = start(target.command([String(port)], folder));
        broker.stdout.resume();
        await awaitListening(port, fail);
        return parseSample(await generate({ port, pid: broker.pid ?? 0 }, []), fail);
      }
      const agents = await Promise.all(Array.from({ length: load.agents }, () => openListener()));
      const hub = start(
        target.command(
          agents.map(({ port }) => String(port)),
          folder,
        ),
      );
      const lines = createInterface({ input: hub.stdout })[Symbol.asyncIterator]();
      const sockets = await awaitConnections(agents, hub, target, fail);
      const sample = parseSample(await generate({ pid: hub.pid ?? 0 }, sockets), fail);
      if (target.name === 'run' && sample.sent * load.bytes > MAX_RECORDED_BYTES)
        printError(`${target.name}, ${load.name}: it was too fast to be recorded to the end`);
      if (target.countsPackets === true) {
        hub.kill('SIGTERM');
        // The preceding line reports that it is ready.
        await lines.next();
        expectCounted(sample, await lines.next(), fail);
      }
      return sample;
    } finally {
      for (const child of children) child.kill('SIGKILL');
      await Promise.all(children.map((child) => (isOver(child) ? undefined : once(child, 'exit'))));
    }
  });
}

/** Opens the listener on which a hub finds one agent. */
async function openListener(): Promise<{ readonly port: number; readonly socket: Promise<net.Socket> }> {
  const { promise, resolve } = Promise.withResolvers<net.Socket>();
  // Bytes that arrive before a process takes over the connection belong to that process.
  const server = net.createServer({ pauseOnConnect: true, noDelay: true }, (socket) => {
    server.close();
    resolve(socket);
  });
  return { port: await listenOnPlace(server.unref(), { port: 0 }), socket: promise };
}

/** Connects two agents with each other. */
async function connectPair(): Promise<net.Socket[]> {
  const { port, socket } = await openListener();
  const other = net.connect({ host: '127.0.0.1', port }).pause();
  return [await socket, other];
}

/**
 * Returns the agents' ends of all connections, after the handshake if there is one. Nothing beyond it has
 * been read.
 */
async function awaitConnections(
  agents: readonly { readonly socket: Promise<net.Socket> }[],
  hub: ChildProcess,
  target: RelayTarget,
  fail: Fail,
): Promise<net.Socket[]> {
  const ended = once(hub, 'exit', { signal: AbortSignal.timeout(START_TIMEOUT_MS) });
  const sockets = Promise.all(
    agents.map(async ({ socket }, index) => {
      await target.shakeHands?.(index, await socket);
      return socket;
    }),
  );
  const all = await Promise.race([sockets, ended.catch(() => undefined)]);
  if (all?.[0] instanceof net.Socket) return sockets;
  throw fail('it did not start');
}

/**
 * Runs the load on these connections to a hub, or as clients of a broker. Returns its measurements;
 * undefined if it ended without output.
 */
async function runLoad(
  program: string,
  settings: Settings,
  sockets: readonly net.Socket[],
): Promise<unknown> {
  const words = Object.entries({ ...settings, fds: sockets.length > 0 ? FIRST_SOCKET : 0 });
  const child = trackChild(
    spawn(
      program,
      words.map(([key, value]) => `${key}=${value}`),
      { stdio: ['ignore', 'pipe', 'ignore', ...sockets] },
    ),
  );
  const { stdout: output } = child;
  if (output === null) throw new Error('it was started without a pipe');
  // The process has the sockets by now.
  for (const socket of sockets) socket.destroy();
  for await (const line of createInterface({ input: output })) return JSON.parse(line);
  return undefined;
}

function parseSample(value: unknown, fail: Fail): Sample {
  if (value === undefined) throw fail('the load generator ended without a word');
  const sample = sampleSchema.parse(value);
  if (sample.bad > 0) throw fail(`${sample.bad} packets were not what was sent`);
  if (sample.came !== sample.wanted) throw fail(`${sample.wanted} deliveries were due, ${sample.came} came`);
  return sample;
}

function expectCounted({ sent }: Sample, line: IteratorResult<string>, fail: Fail): void {
  if (line.done === true) throw fail('it ended without its counters');
  const { packets, tokens, refused_packets } = countersSchema.parse(JSON.parse(line.value));
  if (packets !== sent || tokens !== sent || refused_packets > 0) {
    throw fail(`${sent} packets of one token each were sent, and it counted ${line.value}`);
  }
}

function isOver(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null || child.pid === undefined;
}

async function awaitListening(port: number, fail: Fail): Promise<void> {
  const deadlineMs = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    const socket = net.connect({ host: '127.0.0.1', port });
    const isUp = await new Promise((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    socket.destroy();
    if (isUp) return;
    if (performance.now() > deadlineMs) throw fail('it does not listen');
    await sleep(20);
  }
}
