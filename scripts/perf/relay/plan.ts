import { type Load, secondsOf } from './measure-relay.ts';
import { PEERS, TARGET_NAMES, type TargetName } from './targets.ts';

/** One load that every target is to carry. */
export interface Cell {
  readonly name: string;
  readonly kind: 'throughput' | 'one in flight' | 'latency' | 'stuck' | 'one fewer' | 'Node agents';
  readonly load: Load;
  readonly targets: readonly TargetName[];
  /** It is carried in no more rounds than these: no figure is taken from it. */
  readonly rounds?: number;
}

/** The envelope alone takes 105 bytes with a real time in it: the smallest packets stand for 64 B. */
export const SMALL_BYTES = 108;
const KIB = 1024;
const MIB = KIB * KIB;
/** Deliveries a second: 12,000 with four agents. */
const LATENCY_RATE = 4000;
/** Rounds of what takes long and is in no figure. */
const FEW_ROUNDS = 2;

/** What is on the way at the end takes them seconds. */
const SLOW: ReadonlySet<TargetName> = new Set(['naive', 'Mosquitto', 'ws']);
const YARDSTICKS = ['hub', 'raw Node', 'C relay'] as const satisfies readonly TargetName[];

/** The loads of one run of `perf --relay`. */
export function planOf(isQuick: boolean): Cell[] {
  const seconds = isQuick ? 0.7 : 1;
  const sizes = isQuick ? [SMALL_BYTES, 512, 4 * KIB] : [SMALL_BYTES, 512, 4 * KIB, 64 * KIB, MIB];
  const counts = isQuick ? [4] : [4, 16, 64];
  const cells: Cell[] = counts.flatMap((agents) =>
    sizes.map((bytes) => ({
      name: `N=${agents}, ${sizeName(bytes)}`,
      kind: 'throughput' as const,
      load: { agents, bytes, seconds },
      targets: targetsAt(agents, bytes),
      ...(agents > 4 && bytes === MIB ? { rounds: FEW_ROUNDS } : {}),
    })),
  );
  const four = { agents: 4, bytes: 512 };
  const framed = TARGET_NAMES.filter((name) => name !== 'raw Node');
  return [
    ...cells,
    {
      name: 'one in flight',
      kind: 'one in flight',
      load: { ...four, inFlight: 1, seconds },
      targets: framed,
    },
    {
      name: `${LATENCY_RATE * 3} deliveries/s`,
      kind: 'latency',
      load: { ...four, rate: LATENCY_RATE, seconds: 2 },
      targets: framed,
    },
    {
      // Gaps of the machine are most of a tail, and come by chance.
      name: `${LATENCY_RATE * 3} deliveries/s, once more`,
      kind: 'latency',
      load: { ...four, rate: LATENCY_RATE, seconds: 2 },
      targets: ['hub', 'C relay', 'NATS'],
    },
    {
      name: 'Node agents',
      kind: 'Node agents',
      load: { ...four, areNode: true, seconds },
      targets: ['hub', 'hub again', 'C relay', 'NATS'],
    },
    {
      name: 'one never reads',
      kind: 'stuck',
      load: { agents: 4, bytes: 4 * KIB, isOneStuck: true, seconds: 3 },
      targets: ['hub'],
    },
    { name: 'one fewer', kind: 'one fewer', load: { agents: 3, bytes: 4 * KIB, seconds }, targets: ['hub'] },
  ];
}

/** With four agents all; with more of them those that a figure, or a reader's question, is about. */
function targetsAt(agents: number, bytes: number): readonly TargetName[] {
  if (agents === 4 || bytes === 512) return TARGET_NAMES;
  if (bytes < MIB) return [...YARDSTICKS, ...PEERS];
  // 64 messages of a MiB to 63 destinations are 4 GiB; most brokers would keep them all in memory.
  return agents < 64 ? [...YARDSTICKS, ...PEERS] : [...YARDSTICKS, 'NATS'];
}

/** How often a cell is carried in a run of so many rounds. */
export function roundsOf(cell: Cell, rounds: number): number {
  return Math.min(rounds, cell.rounds ?? rounds);
}

/** What the plan takes on an idle machine with all targets, in seconds. */
export function planSeconds(cells: readonly Cell[], rounds: number): number {
  return cells
    .flatMap((cell) =>
      cell.targets.map((name) => secondsOf(cell.load, SLOW.has(name)) * roundsOf(cell, rounds)),
    )
    .reduce((sum, each) => sum + each, 0);
}

function sizeName(bytes: number): string {
  if (bytes >= MIB) return `${bytes / MIB} MiB`;
  return bytes >= KIB && bytes % KIB === 0 ? `${bytes / KIB} KiB` : `${bytes} B`;
}
