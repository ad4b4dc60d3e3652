import { execFile } from 'node:child_process';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { handleInterrupt } from '@gaia-mesh/cli/command-line/interruptible.ts';
import { defineOptions } from '@gaia-mesh/cli/command-line/options.ts';
import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { MAX_FRAME_BYTES } from '@gaia-mesh/core/contracts/limits.ts';
import { MeshNetwork } from '@gaia-mesh/core/hub/mesh-network.ts';
import { createRouter } from '@gaia-mesh/core/hub/routing.ts';
import { buildRunLedger } from '@gaia-mesh/core/run/metrics/run-ledger.ts';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { commaList, defineTable, flag, option, seconds } from '@gaia-mesh/evaluation/plan/option-table.ts';
import { computeMedian } from '@gaia-mesh/evaluation/statistics/inference/quantile.ts';
import type { MeasuredPart } from '@gaia-mesh/evaluation/terminal/docs-page.ts';
import { formatMarkdownTable } from '@gaia-mesh/evaluation/terminal/markdown-table.ts';
import { ProgressBar } from '@gaia-mesh/evaluation/terminal/progress-bar.ts';
import { count, formatDecimals, formatTable } from '@gaia-mesh/evaluation/terminal/table.ts';
import { json } from '@gaia-mesh/protocols/json.ts';
import type { Command } from 'commander';
import * as z from 'zod';
import { createPublisher } from '../measure/publish.ts';
import { Swarm } from './swarm.ts';

const scaleTable = defineTable({
  options: z.object({
    agents: option('<numbers>', 'points of the curve', commaList.default(['4', '16', '64', '256'])),
    seconds: option('<n>', 'time of each flood', seconds.default(5)),
    json: flag('print the points as one JSON value'),
    write: flag('write them to docs/results/scale.md'),
  }),
});

const MAX_AGENTS = 1000;

const number = z.number().nonnegative();
const pointSchema = z.object({
  agents: number,
  processes: number,
  /** Milliseconds for dialling all agents and agreeing with each: all set-ups, sorted. */
  setUpMs: z.array(number),
  packetsPerS: number,
  deliveriesPerS: number,
  /** Resident memory of the hub's process in bytes: connected and idle, and at its peak under load. */
  idleRss: number,
  peakRss: number,
  isBalanced: z.boolean(),
});
type ScalePoint = z.infer<typeof pointSchema>;

export function scale(command: Command): void {
  defineOptions(command, scaleTable, run);
}

/**
 * Measures set-up, throughput and memory of the hub for several numbers of agents. Exit code 1 if a ledger
 * does not balance.
 */
async function run(options: z.output<typeof scaleTable.options>): Promise<void> {
  const publish = createPublisher('docs/results/scale.md', options);
  const numbers = options.agents.map(parseAgentCount);
  const [only, ...others] = numbers;
  if (only === undefined) throw new MeshError('usage', '--agents: expected numbers, e.g. 4,16,64');
  const { signal } = handleInterrupt('the measurement');
  const points: ScalePoint[] = [];
  if (others.length === 0) {
    points.push(await measureScale(only, options.seconds, signal));
  } else {
    const bar = await ProgressBar.start(numbers.length, 'numbers of agents');
    for (const agents of numbers) {
      signal.throwIfAborted();
      points.push(await measureApart(agents, options.seconds));
      bar.advance(`${agents} agents`);
    }
    bar.end();
  }
  const part = scalePart(points, options.seconds);
  await publish({ report: { points }, text: formatTable(scaleRows(points)), part });
  if (points.some(({ isBalanced }) => !isBalanced)) process.exitCode = 1;
}

/**
 * Measures a point with this command in a separate process, so that no point inherits memory from another.
 */
async function measureApart(agents: number, seconds: number): Promise<ScalePoint> {
  const entry = path.join(codeFolder, 'lab', 'lab.js');
  const args = [entry, 'scale', `--agents=${agents}`, `--seconds=${seconds}`, '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, args).catch((error: unknown) => {
    throw new MeshError('agent', `${agents} agents were not measured: ${takeLastLine(error)}`, {
      cause: error,
    });
  });
  const [point] = z.object({ points: z.array(pointSchema) }).parse(JSON.parse(stdout)).points;
  if (point === undefined) throw new Error('a report without a point');
  return point;
}

/** Returns the last line that a command printed before it failed. */
function takeLastLine(error: unknown): string {
  const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
  return said.split('\n').at(-1) || toErrorMessage(error);
}

function parseAgentCount(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 2 || value > MAX_AGENTS) {
    throw new MeshError('usage', `--agents: expected numbers from 2 to ${MAX_AGENTS}, not ${text}`);
  }
  return value;
}

/** Maximum processes that host the agents: more would only take cores from the hub. */
const MOST_PROCESSES = 4;
const SET_UPS = 7;
const SAMPLE_MS = 20;
const PATIENCE_MS = 60_000;

/** Measures `agents` agents, all of which send to all others for `seconds`, as fast as the hub lets them. */
async function measureScale(agents: number, seconds: number, signal: AbortSignal): Promise<ScalePoint> {
  const processes = Math.min(MOST_PROCESSES, agents);
  const swarm = await Swarm.start(agents, processes, (message) => console.error(message));
  try {
    const setUpMs: number[] = [];
    // The last connection stays open.
    for (let attempt = 1; attempt < SET_UPS; attempt++) (await connect(swarm, attempt, setUpMs)).close();
    const network = await connect(swarm, SET_UPS, setUpMs);
    try {
      return { agents, processes, setUpMs, ...(await measureFlood(swarm, network, seconds, signal)) };
    } finally {
      network.close();
    }
  } finally {
    await swarm.stop();
  }
}

async function connect(swarm: Swarm, attempt: number, setUpMs: number[]): Promise<MeshNetwork> {
  const nodes = await swarm.nodes();
  const beganMs = performance.now();
  const network = await MeshNetwork.connect({
    runId: `scale-${attempt}`,
    adapter: json,
    secret: swarm.secret,
    nodes,
    final: null,
    router: createRouter('broadcast'),
    observer: {},
    maxFrameBytes: MAX_FRAME_BYTES,
  });
  setUpMs.push(performance.now() - beganMs);
  setUpMs.sort((a, b) => a - b);
  return network;
}

async function measureFlood(swarm: Swarm, network: MeshNetwork, seconds: number, signal: AbortSignal) {
  const idleRss = process.memoryUsage.rss();
  const sum = (key: 'packetsRx' | 'packetsTx') =>
    network.links.reduce((total, { counts }) => total + counts[key], 0);
  let peakRss = idleRss;
  const beganMs = performance.now();
  swarm.flood({ seed: 1, brokenRate: 0, pauseMs: 0 });
  while (performance.now() - beganMs < seconds * 1000 && !signal.aborted) {
    await sleep(SAMPLE_MS);
    peakRss = Math.max(peakRss, process.memoryUsage.rss());
  }
  const tookS = (performance.now() - beganMs) / 1000;
  const [packets, deliveries] = [sum('packetsRx'), sum('packetsTx')];
  const deadlineMs = performance.now() + PATIENCE_MS;
  const { sent } = await swarm.quiet();
  const isHere = () => network.links.every(({ node, counts }) => sent.get(node.id) === counts.packetsRx);
  while (!isHere() && performance.now() < deadlineMs) await sleep(SAMPLE_MS);
  await network.settle();
  const { balanced } = buildRunLedger(network);
  return {
    packetsPerS: packets / tookS,
    deliveriesPerS: deliveries / tookS,
    idleRss,
    peakRss,
    isBalanced: balanced && isHere(),
  };
}

const MEGABYTE = 2 ** 20;

/** Formats one row per point; the first is the heading. */
function scaleRows(points: readonly ScalePoint[]): string[][] {
  const mb = (bytes: number) => `${formatDecimals(bytes / MEGABYTE, 0)} MB`;
  const head = ['agents', 'processes', 'set-up, median (best–worst)', 'packets/s', 'deliveries/s'];
  return [
    [...head, 'hub idle', 'hub at most', 'books'],
    ...points.map((point) => [
      count(point.agents),
      count(point.processes),
      setUp(point.setUpMs),
      count(point.packetsPerS),
      count(point.deliveriesPerS),
      mb(point.idleRss),
      mb(point.peakRss),
      point.isBalanced ? 'balanced' : 'NOT balanced',
    ]),
  ];
}

/** Builds the measured part of `docs/results/scale.md`. */
export function scalePart(points: readonly ScalePoint[], seconds: number): MeasuredPart {
  return {
    facts: `adapter json, routing broadcast, payloads of 16 B to 1.5 KB; ${seconds} s of flood a point`,
    body: [
      formatMarkdownTable(scaleRows(points)),
      formatCurve('Set-up, ms', points, ({ setUpMs }) => computeMedian(setUpMs)),
      formatCurve('Deliveries a second, thousands', points, ({ deliveriesPerS }) => deliveriesPerS / 1000),
      formatCurve('Memory of the hub at most, MB', points, ({ peakRss }) => peakRss / MEGABYTE),
    ].join('\n\n'),
    limits: [
      'The agents run on the same cores as the hub, check every packet’s order, and keep counters: here they are the bottleneck, not the hub, whose own limits [relay.md](relay.md) shows.',
      'What the curve shows is that set-up and memory grow no faster than the number of agents.',
    ],
  };
}

/** Formats a Mermaid chart over the numbers of agents: https://mermaid.js.org/syntax/xyChart.html */
function formatCurve(
  title: string,
  points: readonly ScalePoint[],
  of: (point: ScalePoint) => number,
): string {
  const values = points.map((point) => of(point).toFixed(1));
  return `\`\`\`mermaid
xychart-beta
  title "${title}"
  x-axis "agents" [${points.map(({ agents }) => agents).join(', ')}]
  line [${values.join(', ')}]
\`\`\``;
}

function setUp(sorted: readonly number[]): string {
  const [best = 0] = sorted;
  const worst = sorted.at(-1) ?? 0;
  return `${formatDecimals(computeMedian(sorted), 1)} ms (${formatDecimals(best, 1)}–${formatDecimals(worst, 1)})`;
}
