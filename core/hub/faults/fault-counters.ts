import type { PacketHead } from '../../contracts/packet.ts';

/** One packet on one route, as the relay offers it. */
export interface Offer {
  readonly from: string;
  readonly to: string;
  /** Position of the packet on its route, counted from 1; the fault plan decides by it. */
  readonly number: number;
  readonly bytes: number;
  readonly packet: PacketHead;
}

/** Packets and the bytes of their whole frames. */
interface Volume {
  packets: number;
  bytes: number;
}

/** Returns a counter at zero for each of `lines`. */
export function createVolumes<Line extends string>(lines: readonly Line[]): Record<Line, Volume> {
  const volumes = lines.map((line) => [line, { packets: 0, bytes: 0 }] as const);
  return Object.fromEntries(volumes) as Record<Line, Volume>;
}

/**
 * Fates of the deliveries to an agent. Each offered delivery is exactly one of delivered, dropped and
 * undeliverable; a duplicate is written in addition to the delivered one:
 *
 *     offered = delivered + dropped + undeliverable        written = delivered + duplicated
 *
 * `delayed`, `early` (delayed for less than its time because too many bytes were waiting), `corrupted` and
 * `lied` (its sender lied in it on request) describe deliveries that are counted above.
 */
type DeliveryCounters = Record<Fate, Volume>;
const FATES = [
  'offered',
  'delivered',
  'duplicated',
  'dropped',
  'undeliverable',
  'delayed',
  'early',
  'corrupted',
  'lied',
] as const;
type Fate = (typeof FATES)[number];

/** Fates that can cost a task its answer. */
const HARMS: readonly Fate[] = ['dropped', 'undeliverable', 'corrupted', 'lied'];

/** Counts all deliveries of a run with faults. */
export class FaultCounters {
  readonly total: DeliveryCounters = createVolumes(FATES);
  readonly #byAgent = new Map<string, DeliveryCounters>();
  /** Deliveries of a task that were lost, corrupted or false; removed when the task has ended. */
  readonly #harmedByTask = new Map<string, number>();

  count(fate: Fate, { to, bytes, packet }: Offer): void {
    for (const counters of [this.total, this.of(to)]) {
      counters[fate].packets += 1;
      counters[fate].bytes += bytes;
    }
    if (!HARMS.includes(fate)) return;
    this.#harmedByTask.set(packet.task_id, (this.#harmedByTask.get(packet.task_id) ?? 0) + 1);
  }

  of(agent: string): DeliveryCounters {
    let counters = this.#byAgent.get(agent);
    if (counters === undefined) {
      counters = createVolumes(FATES);
      this.#byAgent.set(agent, counters);
    }
    return counters;
  }

  /**
   * Removes and returns the number of a task's deliveries that were lost, corrupted or false; called once, at
   * its end.
   */
  takeHarmedOf(taskId: string): number {
    const harmed = this.#harmedByTask.get(taskId) ?? 0;
    this.#harmedByTask.delete(taskId);
    return harmed;
  }
}
