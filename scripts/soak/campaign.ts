import { parseFaults } from '../../core/hub/faults/parse-faults.ts';
import { MAX_GROWTH, MemoryCurve, type MemoryGrowth } from './memory-curve.ts';
import { mishapsOf } from './mishaps.ts';
import { type RoundReport, soakRound } from './soak-round.ts';
import { Swarm } from './swarm.ts';
import { SYNTHETIC_TOOL } from './synthetic-agent.ts';

export interface SoakPlan {
  readonly seed: number;
  readonly agents: number;
  readonly processes: number;
  readonly rounds: number;
  /** What ends it, whichever comes first. */
  readonly minutes: number;
  readonly packets: number;
}

export interface SoakReport {
  readonly seed: number;
  readonly packets: number;
  readonly deliveries: number;
  readonly seconds: number;
  readonly rounds: readonly RoundReport[];
  /** Memory of the hub's process, bytes. */
  readonly memory: MemoryGrowth;
  /** What was left when everything had ended. */
  readonly left: readonly string[];
  readonly violations: readonly string[];
}

/** The protocols that rounds take in turn: those whose heads the hub can read without decoding, so that it is the hub that is soaked. */
const ADAPTERS = ['json', 'msgpack', 'cbor'] as const;
/** Every so many rounds deliveries go one by one, with faults; the checksum shows what was corrupted. */
const FAULTY_EVERY = 3;
const FAULTY_ADAPTER = 'json+crc32c';
const FAULTS = 'drop=1%,dup=1%,corrupt=0.5%,delay=2ms±2:0>1';
/** A round with faults gets so many packets for each of another: it decides about every single delivery. */
const FAULTY_SHARE = 0.05;
const SAMPLE_EVERY_MS = 100;
/** Turns of the event loop for what was closed to be gone. */
const LOOKS = 1000;

/** A bounded flood of synthetic agents through real connections, round after round, with mishaps by seed. */
export async function soakCampaign(
  plan: SoakPlan,
  signal: AbortSignal,
  onRound: (report: RoundReport) => void = () => undefined,
): Promise<SoakReport> {
  const before = process.getActiveResourcesInfo();
  const startMs = performance.now();
  const violations: string[] = [];
  const rounds: RoundReport[] = [];
  const memory = new MemoryCurve(SAMPLE_EVERY_MS);
  const swarm = await Swarm.start(plan.agents, plan.processes, (message) => violations.push(message));
  try {
    for (let number = 1; number <= plan.rounds && !signal.aborted; number++) {
      const report = await soakRound(swarm, roundPlan(plan, number), signal);
      rounds.push(report);
      memory.rest();
      violations.push(...report.violations.map((violation) => `round ${number}: ${violation}`));
      onRound(report);
    }
  } finally {
    memory.end();
    await swarm.stop();
  }
  const left = await leftBehind(before);
  const growth = memory.growth();
  if (growth.growth > MAX_GROWTH) {
    const percent = (growth.growth * 100).toFixed(1);
    violations.push(`memory grew by ${percent} %; ${MAX_GROWTH * 100} % are allowed`);
  }
  if (left.length > 0) violations.push(`left behind: ${left.join(', ')}`);
  return {
    seed: plan.seed,
    packets: rounds.reduce((sum, { packets }) => sum + packets, 0),
    deliveries: rounds.reduce((sum, { fates }) => sum + fates.offered, 0),
    seconds: (performance.now() - startMs) / 1000,
    rounds,
    memory: growth,
    left,
    violations,
  };
}

function roundPlan(plan: SoakPlan, number: number) {
  const { seed, agents, processes } = plan;
  const isFaulty = number % FAULTY_EVERY === 0;
  const names = Array.from({ length: agents }, (_, id) => ({ id: String(id), tool: SYNTHETIC_TOOL }));
  const faultyRounds = Math.floor(plan.rounds / FAULTY_EVERY);
  const shares = plan.rounds - faultyRounds * (1 - FAULTY_SHARE);
  const most = (plan.packets * (isFaulty ? FAULTY_SHARE : 1)) / shares;
  const startMs = performance.now();
  const mostMs = (plan.minutes * 60_000) / plan.rounds;
  return {
    number,
    adapter: isFaulty
      ? FAULTY_ADAPTER
      : (ADAPTERS[Math.floor((number * 2) / FAULTY_EVERY) % ADAPTERS.length] ?? 'json'),
    faults: isFaulty ? parseFaults(FAULTS, names) : [],
    seed: seed + number,
    mishaps: mishapsOf(seed, number, agents, processes),
    progress: (packets: number) => Math.max(packets / most, (performance.now() - startMs) / mostMs),
  };
}

/** Handles of this process that were not there before: connections, listeners, timers, child processes and their pipes. */
async function leftBehind(before: readonly string[]): Promise<string[]> {
  let left: string[] = [];
  // Handles that were just closed go within the next turns of the event loop.
  for (let look = 0; look < LOOKS; look++) {
    // A turn, not a timer: that would be one of them.
    await new Promise((resolve) => setImmediate(resolve));
    const known = [...before];
    left = process.getActiveResourcesInfo().filter((name) => {
      const index = known.indexOf(name);
      if (index >= 0) known.splice(index, 1);
      return index < 0;
    });
    if (left.length === 0) break;
  }
  return left;
}
