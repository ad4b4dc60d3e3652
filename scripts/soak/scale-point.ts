import { setTimeout as sleep } from 'node:timers/promises';
import { MeshNetwork } from '../../core/hub/mesh-network.ts';
import { routerNamed } from '../../core/hub/routing.ts';
import { MAX_FRAME_BYTES } from '../../core/limits.ts';
import { runLedger } from '../../core/run/run-ledger.ts';
import { json } from '../../protocols/json.ts';
import { Swarm } from './swarm.ts';

export interface ScalePoint {
  readonly agents: number;
  readonly processes: number;
  /** Dialling all agents and agreeing with each, milliseconds: all set-ups, sorted. */
  readonly setUpMs: readonly number[];
  readonly packetsPerS: number;
  readonly deliveriesPerS: number;
  /** Resident memory of the hub's process, bytes: connected and idle, and the most under load. */
  readonly idleRss: number;
  readonly peakRss: number;
  readonly isBalanced: boolean;
}

/** Processes that host the agents: more would only take the cores from the hub. */
const MOST_PROCESSES = 4;
const SET_UPS = 7;
const SAMPLE_MS = 20;
const PATIENCE_MS = 60_000;

/** So many agents, all of which send to all others as fast as the hub lets them, for a time. */
export async function measureScale(
  agents: number,
  seconds: number,
  signal: AbortSignal,
): Promise<ScalePoint> {
  const processes = Math.min(MOST_PROCESSES, agents);
  const swarm = await Swarm.start(agents, processes, (message) => console.error(message));
  try {
    const setUpMs: number[] = [];
    // The last of the connections stays.
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
    host: '127.0.0.1',
    adapter: json,
    secret: swarm.secret,
    nodes,
    final: null,
    router: routerNamed('broadcast'),
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
  const { balanced } = runLedger(network.links, '', network.ownLine);
  return {
    packetsPerS: packets / tookS,
    deliveriesPerS: deliveries / tookS,
    idleRss,
    peakRss,
    isBalanced: balanced && isHere(),
  };
}
