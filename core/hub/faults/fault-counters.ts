import type { Offer } from '../delivery/pending-frames.ts';

/** Packets and their bytes, whole frames. */
export interface Volume {
  packets: number;
  bytes: number;
}

/**
 * What became of the deliveries to an agent. Each that the relay offers is exactly one of delivered, dropped, partitioned and
 * undeliverable; a duplicate is written beside the delivered one:
 *
 *     offered = delivered + dropped + partitioned + undeliverable        written = delivered + duplicated
 *
 * `delayed`, `early` (too many bytes were waiting, so it was not delayed as long as it should have been), `corrupted` and `lied` (its
 * sender was told to lie in it) say something about deliveries that are counted above.
 */
export type DeliveryCounters = Record<
  | 'offered'
  | 'delivered'
  | 'duplicated'
  | 'dropped'
  | 'partitioned'
  | 'undeliverable'
  | 'delayed'
  | 'early'
  | 'corrupted'
  | 'lied',
  Volume
>;
type Fate = keyof DeliveryCounters;

/** What can cost a task its answer. */
const HARMS: readonly Fate[] = ['dropped', 'partitioned', 'undeliverable', 'corrupted', 'lied'];

function createDeliveryCounters(): DeliveryCounters {
  const none = (): Volume => ({ packets: 0, bytes: 0 });
  return {
    offered: none(),
    delivered: none(),
    duplicated: none(),
    dropped: none(),
    partitioned: none(),
    undeliverable: none(),
    delayed: none(),
    early: none(),
    corrupted: none(),
    lied: none(),
  };
}

/** Counts all deliveries of a run with faults. */
export class FaultCounters {
  readonly total: DeliveryCounters = createDeliveryCounters();
  readonly #byAgent = new Map<string, DeliveryCounters>();
  /** Deliveries of a task that were lost, corrupted or false; forgotten when it has ended. */
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
      counters = createDeliveryCounters();
      this.#byAgent.set(agent, counters);
    }
    return counters;
  }

  /** Deliveries of a task that were lost, corrupted or false. Asked once, at its end. */
  takeHarmedOf(taskId: string): number {
    const harmed = this.#harmedByTask.get(taskId) ?? 0;
    this.#harmedByTask.delete(taskId);
    return harmed;
  }
}
