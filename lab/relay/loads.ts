import { PEERS, TARGET_NAMES, TASKS, type TargetName } from './targets.ts';

/** What the agents do, and who is to carry it. */
export interface Load {
  readonly name: string;
  readonly kind: 'throughput' | 'one in flight' | 'latency' | 'stuck' | 'one fewer' | 'Node agents';
  readonly agents: number;
  /** Of a packet, without what its wire puts around it. */
  readonly bytes: number;
  readonly seconds: number;
  /** Packets that each agent may have on the way; without it, as many as fit its window of bytes. */
  readonly inFlight?: number;
  /** Packets a second, of all agents together, at their times whatever comes back. */
  readonly rate?: number;
  /** The last agent takes no bytes. */
  readonly isOneStuck?: boolean;
  /** Each agent is a Node process with the client that is used there; without it all are sockets of one process in C. */
  readonly areNode?: boolean;
  readonly targets: readonly TargetName[];
  /** It is carried in no more rounds than these: no verdict is taken from it. */
  readonly rounds?: number;
}

/** Of one agent on the way, and of all of them: not more than a slow target carries in a few seconds. */
const WINDOW_BYTES = 256 * 1024;
const ALL_BYTES = 4 * 1024 * 1024;
const ALL_PACKETS = 10_000;
/** What any wire puts around a packet. */
const MAX_HEAD_BYTES = 64;

/** The envelope alone takes 107 bytes with a real time in it: the smallest packets stand for 64 B. */
export const SMALL_BYTES = 108;
const KIB = 1024;
const MIB = KIB * KIB;
/** Deliveries a second: 12,000 with four agents. */
const LATENCY_RATE = 4000;

const YARDSTICKS: readonly TargetName[] = ['flood', 'raw Node', 'C relay'];
/** Everything but the run, which records every packet: a few loads show what that takes. */
const BARE = TARGET_NAMES.filter((name) => name !== 'run');

/** The loads of one run of `perf --relay`. */
export function listLoads(isQuick: boolean): Load[] {
  const seconds = isQuick ? 0.7 : 1;
  const sizes = isQuick ? [SMALL_BYTES, 512, 4 * KIB] : [SMALL_BYTES, 512, 4 * KIB, 64 * KIB, MIB];
  const throughput = (isQuick ? [4] : [4, 16, 64]).flatMap((agents) =>
    sizes.map(
      (bytes): Load => ({
        ...{ name: `N=${agents}, ${formatSize(bytes)}`, kind: 'throughput', agents, bytes, seconds },
        targets: chooseTargets(agents, bytes),
        // They take long.
        ...(agents > 4 && bytes === MIB ? { rounds: 2 } : {}),
      }),
    ),
  );
  const four = { agents: 4, bytes: 512, seconds } as const;
  const framed = BARE.filter((name) => name !== 'raw Node');
  const fixedRate = { ...four, kind: 'latency', rate: LATENCY_RATE, seconds: 2 } as const;
  return [
    ...throughput,
    { ...four, name: 'one in flight', kind: 'one in flight', inFlight: 1, targets: framed },
    { ...fixedRate, name: `${LATENCY_RATE * 3} deliveries/s`, targets: framed },
    // Gaps of the machine are most of a tail, and come by chance.
    {
      ...fixedRate,
      name: `${LATENCY_RATE * 3} deliveries/s, once more`,
      targets: ['flood', 'C relay', 'NATS'],
    },
    {
      ...{ ...four, name: 'Node agents', kind: 'Node agents', areNode: true },
      targets: ['flood', 'flood again', 'C relay', 'NATS'],
    },
    {
      ...{ name: 'one never reads', kind: 'stuck', agents: 4, bytes: 4 * KIB, isOneStuck: true, seconds: 3 },
      targets: ['flood'],
    },
    { name: 'one fewer', kind: 'one fewer', agents: 3, bytes: 4 * KIB, seconds, targets: ['flood'] },
  ];
}

/** With four agents all; with more of them those that a verdict, or a reader's question, is about. */
function chooseTargets(agents: number, bytes: number): readonly TargetName[] {
  if (bytes === 512 && agents < 64) return TARGET_NAMES;
  if (agents === 4 || bytes === 512) return BARE;
  // 64 messages of a MiB to 63 destinations are 4 GiB, which Redis would keep in memory.
  return agents < 64 || bytes < MIB ? [...YARDSTICKS, ...PEERS] : [...YARDSTICKS, 'NATS'];
}

/** As the load generators take them. */
export function loadSettings(load: Load, target: TargetName) {
  const { warmMs, runMs } = chooseTimes(load, target);
  return {
    agents: load.agents,
    size: load.bytes,
    tasks: TASKS,
    inflight: load.inFlight ?? 0,
    window: computeWindowBytes(load),
    rate: load.rate ?? 0,
    stuck: load.isOneStuck === true ? 1 : 0,
    warm_ms: warmMs,
    run_ms: runMs,
  };
}

/** Bytes that each agent may have on the way: more than one packet, but for the largest. */
function computeWindowBytes({ agents, bytes }: Load): number {
  const few = bytes < MIB ? 2 * (bytes + MAX_HEAD_BYTES) : bytes;
  const share = Math.min(ALL_BYTES, ALL_PACKETS * bytes) / agents;
  return Math.max(few, Math.min(WINDOW_BYTES, Math.floor(share)));
}

/** A run is measured while it still records: a second of a flood is more than a recording has room for. */
const RUN_TIMES = { warmMs: 150, runMs: 350 };

/** How long it is carried, and what is let pass before: code of agents gets compiled, and at a fixed rate code gets hot slowly. */
function chooseTimes({ isOneStuck, areNode, rate, seconds }: Load, target: TargetName) {
  if (target === 'run') return RUN_TIMES;
  const runMs = seconds * 1000;
  if (rate !== undefined) return { warmMs: 2000, runMs };
  if (isOneStuck === true) return { warmMs: 0, runMs };
  return { warmMs: areNode === true ? 1000 : 500, runMs };
}

/** How often a load is carried in so many rounds. */
export function countLoadRounds(load: Load, rounds: number): number {
  return Math.min(rounds, load.rounds ?? rounds);
}

/** What all loads take on an idle machine with these targets, in seconds. */
export function estimateSeconds(
  loads: readonly Load[],
  rounds: number,
  installed: readonly TargetName[],
): number {
  const each = loads.flatMap((load) =>
    load.targets
      .filter((name) => installed.includes(name))
      .map((name) => {
        const bytes = load.agents * (load.agents - 1) * computeWindowBytes(load);
        // What is on the way at the end comes at a GB a second.
        const ending = bytes / 1e9;
        const start = name === 'run' ? 1.5 : load.areNode === true ? 1.2 : 0.3;
        const { warmMs, runMs } = chooseTimes(load, name);
        return ((warmMs + runMs) / 1000 + ending + start) * countLoadRounds(load, rounds);
      }),
  );
  return each.reduce((sum, seconds) => sum + seconds, 0);
}

function formatSize(bytes: number): string {
  if (bytes >= MIB) return `${bytes / MIB} MiB`;
  return bytes >= KIB ? `${bytes / KIB} KiB` : `${bytes} B`;
}
