import type { PacketTrace, Recording } from '@gaia-mesh/core/recording/recording.ts';

const US_PER_MS = 1000;

/**
 * Converts a recording's times to wall-clock time, in microseconds since 1970. A run's times come from one monotonic clock, shared by hub and agents, and a
 * packet's `ts` relates that clock to the time of day; a recording from elsewhere has `ts` alone.
 */
export class WallClock {
  readonly #offsetUs: number;
  readonly #traces: ReadonlyMap<string, PacketTrace>;

  constructor({ packets }: Pick<Recording, 'packets'>) {
    this.#traces = new Map(packets.map((trace) => [trace.packet.id, trace]));
    const first = packets.find(({ relayed }) => relayed !== undefined);
    this.#offsetUs = first?.relayed ? first.packet.ts * US_PER_MS - first.relayed.arrived_us : 0;
  }

  /** Returns the arrival of a packet at the hub, or else the time its sender gave. */
  arrival({ relayed, packet }: PacketTrace): number {
    return relayed === undefined ? packet.ts * US_PER_MS : this.at(relayed.arrived_us);
  }

  at(monotonicUs: number): number {
    return monotonicUs + this.#offsetUs;
  }

  /**
   * Returns the period of the work that produced a packet: as its sender reported it, or else from the arrival of its cause to
   * its own.
   */
  work(trace: PacketTrace) {
    const { work, cause } = trace;
    if (work !== undefined) return { startUs: this.at(work.received_us), endUs: this.at(work.sent_us) };
    const endUs = this.arrival(trace);
    const before = cause === null ? undefined : this.#traces.get(cause);
    return { startUs: before === undefined ? endUs : Math.min(endUs, this.arrival(before)), endUs };
  }
}
