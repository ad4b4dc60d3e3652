import type { Load } from './measure-relay.ts';
import { TARGET_NAMES, type TargetName } from './targets.ts';

/** One load that every target is to carry. */
export interface Cell {
  readonly name: string;
  readonly kind: 'throughput' | 'one in flight' | 'latency' | 'stuck' | 'one fewer';
  readonly load: Load;
  readonly targets: readonly TargetName[];
}

/** The envelope alone takes 105 bytes with a real time in it: the smallest packets stand for 64 B. */
export const SMALL_BYTES = 108;
const KIB = 1024;
/** Deliveries a second: 12,000 with four agents. */
const LATENCY_RATE = 4000;

/** The loads of one run of `perf --relay`. */
export function planOf(isQuick: boolean): Cell[] {
  const seconds = isQuick ? 0.7 : 1;
  const sizes = isQuick ? [SMALL_BYTES, 512, 4 * KIB] : [SMALL_BYTES, 512, 4 * KIB, 64 * KIB, KIB * KIB];
  const counts = isQuick ? [4] : [4, 16, 64];
  const cells: Cell[] = counts.flatMap((agents) =>
    sizes
      // 64 frames of a MiB to 63 destinations: gigabytes for one of each.
      .filter((bytes) => agents < 64 || bytes < KIB * KIB)
      .map((bytes) => ({
        name: `N=${agents}, ${sizeName(bytes)}`,
        kind: 'throughput' as const,
        load: { agents, bytes, seconds },
        targets: TARGET_NAMES,
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
      load: { ...four, rate: LATENCY_RATE, seconds: 2 * seconds },
      targets: framed,
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

function sizeName(bytes: number): string {
  if (bytes >= KIB * KIB) return `${bytes / KIB / KIB} MiB`;
  return bytes >= KIB && bytes % KIB === 0 ? `${bytes / KIB} KiB` : `${bytes} B`;
}
