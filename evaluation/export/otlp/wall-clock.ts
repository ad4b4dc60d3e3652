import type { PacketTrace, Recording } from '@gaia-mesh/core/recording/recording.ts';

const US_PER_MS = 1000;

/** Microseconds since 1970. */
export interface Stretch {
  readonly startUs: number;
  readonly endUs: number;
}

/**
 * A recording's times by the wall clock. A run's times are of one monotonic clock, hub's and agents' alike, and a packet's `ts` says once
 * what time it was then; a recording that no hub made has `ts` alone.
 */
export class WallClock {
  readonly #offsetUs: number;
  readonly #traces: ReadonlyMap<string, PacketTrace>;

  constructor({ packets }: Pick<Recording, 'packets'>) {
    this.#traces = new Map(packets.map((trace) => [trace.packet.id, trace]));
    const first = packets.find(({ relayed }) => relayed !== undefined);
    this.#offsetUs = first?.relayed ? first.packet.ts * US_PER_MS - first.relayed.arrivedUs : 0;
  }

  /** When a packet was there: at the hub, or by its sender's word. */
  arrival({ relayed, packet }: PacketTrace): number {
    return relayed === undefined ? packet.ts * US_PER_MS : this.at(relayed.arrivedUs);
  }

  at(monotonicUs: number): number {
    return monotonicUs + this.#offsetUs;
  }

  /** The work that a packet came of: as its sender reports it, or else from its cause's arrival to its own. */
  work(trace: PacketTrace): Stretch {
    const { work, cause } = trace;
    if (work !== undefined) return { startUs: this.at(work.receivedAt), endUs: this.at(work.sentAt) };
    const endUs = this.arrival(trace);
    const before = cause === null ? undefined : this.#traces.get(cause);
    return { startUs: before === undefined ? endUs : Math.min(endUs, this.arrival(before)), endUs };
  }
}
