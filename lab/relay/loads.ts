import { PEERS, TARGET_NAMES, TASKS, type TargetName } from './targets.ts';

/** Traffic of the agents, and the targets that carry it. */
export interface Load {
  readonly name: string;
  readonly kind: 'throughput' | 'one in flight' | 'latency' | 'stuck' | 'one fewer';
  readonly agents: number;
  /** Bytes of a packet without the overhead of its wire format. */
  readonly bytes: number;
  readonly seconds: number;
  /** Packets that each agent may have under way; without it, as many as fit its window of bytes. */
  readonly inFlight?: number;
  /** Packets per second of all agents together, sent on schedule whatever comes back. */
  readonly rate?: number;
  /** True if the last agent accepts no bytes. */
  readonly isOneStuck?: boolean;
  readonly targets: readonly TargetName[];
  /** Number of rounds in which it is carried. */
  readonly rounds: number;
}

/** Maximum bytes under way, of one agent and of all: no more than a slow target carries in a few seconds. */
const WINDOW_BYTES = 256 * 1024;
const ALL_BYTES = 4 * 1024 * 1024;
const ALL_PACKETS = 10_000;
/** Maximum bytes that any wire format adds to a packet. */
const MAX_HEAD_BYTES = 64;

/**
 * Size of the smallest packets, which stand for 64 B: the envelope alone takes 107 bytes with a real time in
 * it.
 */
export const SMALL_BYTES = 108;
const KIB = 1024;
const MIB = KIB * KIB;
/** Packets per second: with four agents these are 12,000 deliveries. */
const LATENCY_RATE = 4000;

const YARDSTICKS: readonly TargetName[] = ['flood', 'C relay'];
const CARRIERS = TARGET_NAMES.filter((name) => name !== 'no hub');

/** Lists the loads of one run of `perf --relay`, with as many rounds as their verdicts need, up to `rounds`. */
export function listLoads(isQuick: boolean, rounds: number): Load[] {
  const seconds = 0.7;
  const sizes = isQuick ? [SMALL_BYTES, 512, 4 * KIB] : [SMALL_BYTES, 512, 4 * KIB, 64 * KIB, MIB];
  const throughput = (isQuick ? [4] : [4, 16, 64]).flatMap((agents) =>
    sizes.map(
      (bytes): Load => ({
        name: `N=${agents}, ${formatSize(bytes)}`,
        kind: 'throughput',
        agents,
        bytes,
        seconds,
        targets: chooseTargets(agents, bytes),
        rounds: chooseRounds(agents, bytes, rounds),
      }),
    ),
  );
  const four = { agents: 4, bytes: 512, seconds, rounds } as const;
  const framed: readonly TargetName[] = ['flood', 'Node relay', 'C relay', 'NATS'];
  const fixedRate = { ...four, kind: 'latency', rate: LATENCY_RATE, seconds: 2 } as const;
  return [
    ...throughput,
    { ...four, name: 'one in flight', kind: 'one in flight', inFlight: 1, targets: [...framed, 'Redis'] },
    { ...fixedRate, name: `${LATENCY_RATE * 3} deliveries/s`, targets: [...framed, 'no hub'] },
    // Gaps of the machine cause a part of a tail, and come by chance.
    {
      ...fixedRate,
      rounds: Math.min(3, rounds),
      name: `${LATENCY_RATE * 3} deliveries/s, once more`,
      targets: [...framed, 'no hub'],
    },
    {
      name: 'one never reads',
      kind: 'stuck',
      agents: 4,
      bytes: 4 * KIB,
      isOneStuck: true,
      seconds: 3,
      rounds,
      targets: ['flood'],
    },
    { name: 'one fewer', kind: 'one fewer', agents: 3, bytes: 4 * KIB, seconds, rounds, targets: ['flood'] },
  ];
}

/**
 * Returns three times the rounds for the load of most verdicts, whose rates have two modes, and one for loads of which
 * only the worst median is judged.
 */
function chooseRounds(agents: number, bytes: number, rounds: number): number {
  if (agents === 4 && bytes === 512) return 3 * rounds;
  return agents === 4 || (agents === 16 && bytes === 512) ? rounds : 1;
}

/** Chooses all targets for four agents and usual packets, else those that a verdict or a reader's question concerns. */
function chooseTargets(agents: number, bytes: number): readonly TargetName[] {
  if (agents === 4 && bytes === 512) return CARRIERS;
  // 64 messages of a MiB to 63 destinations are 4 GiB, which Redis would keep in memory.
  return agents < 64 || bytes < MIB ? [...YARDSTICKS, ...PEERS] : [...YARDSTICKS, 'NATS'];
}

/** Returns the settings of a load for the load generator. */
export function loadSettings(load: Load, target: TargetName) {
  const { gentleMs, warmMs, runMs } = chooseTimes(load, target);
  return {
    agents: load.agents,
    size: load.bytes,
    tasks: TASKS,
    inflight: load.inFlight ?? 0,
    window: computeWindowBytes(load),
    rate: load.rate ?? 0,
    stuck: load.isOneStuck === true ? 1 : 0,
    gentle_ms: gentleMs,
    warm_ms: warmMs,
    run_ms: runMs,
  };
}

/** Returns the bytes that each agent may have under way: more than one packet, except for the largest. */
function computeWindowBytes({ agents, bytes }: Load): number {
  const few = bytes < MIB ? 2 * (bytes + MAX_HEAD_BYTES) : bytes;
  const share = Math.min(ALL_BYTES, ALL_PACKETS * bytes) / agents;
  return Math.max(few, Math.min(WINDOW_BYTES, Math.floor(share)));
}

/** Phases of a measurement, in milliseconds. */
interface Times {
  /** Warm-up with one packet of each agent under way: V8 compiles what a packet needs, and little is recorded. */
  readonly gentleMs: number;
  /** Warm-up with the load itself. */
  readonly warmMs: number;
  readonly runMs: number;
}

/**
 * Times of a run, which is measured while it still records: a second of a flood exceeds the room of a
 * recording.
 */
const RUN_TIMES: Times = { gentleMs: 800, warmMs: 100, runMs: 250 };

/** Returns the time of measurement and the warm-up before it: with few packets code gets hot slowly. */
function chooseTimes({ isOneStuck, rate, seconds }: Load, target: TargetName): Times {
  if (target === 'run') return RUN_TIMES;
  const runMs = seconds * 1000;
  if (rate !== undefined) return { gentleMs: 1500, warmMs: 0, runMs };
  if (isOneStuck === true) return { gentleMs: 0, warmMs: 0, runMs };
  return { gentleMs: 0, warmMs: 400, runMs };
}

/** Estimates the seconds that all loads take on an idle machine with these targets. */
export function estimateSeconds(loads: readonly Load[], installed: readonly TargetName[]): number {
  const each = loads.flatMap((load) =>
    load.targets
      .filter((name) => installed.includes(name))
      .map((name) => {
        const bytes = load.agents * (load.agents - 1) * computeWindowBytes(load);
        // Packets under way at the end arrive at a GB per second.
        const ending = bytes / 1e9;
        const start = name === 'run' ? 1.5 : 0.3;
        const { gentleMs, warmMs, runMs } = chooseTimes(load, name);
        return ((gentleMs + warmMs + runMs) / 1000 + ending + start) * load.rounds;
      }),
  );
  return each.reduce((sum, seconds) => sum + seconds, 0);
}

function formatSize(bytes: number): string {
  if (bytes >= MIB) return `${bytes / MIB} MiB`;
  return bytes >= KIB ? `${bytes / KIB} KiB` : `${bytes} B`;
}
