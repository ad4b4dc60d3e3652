import type { DeliveryCounters } from '@gaia-mesh/core/hub/faults/fault-counters.ts';
import type { MeshNetwork } from '@gaia-mesh/core/hub/mesh-network.ts';

/** What became of the deliveries of a round: each is on exactly one line. */
export interface Fates {
  /** One for each packet and each agent but its sender. */
  readonly offered: number;
  /** Whoever got them has them in its books: read, or refused since they were corrupted. */
  readonly received: number;
  readonly refused: number;
  /** Given to a connection that then ended: nobody knows how many arrived. */
  readonly unconfirmed: number;
  /** The agent was not there. */
  readonly undeliverable: number;
  /** Dropped, and copies that nobody sent: asked for by faults. */
  readonly dropped: number;
  readonly duplicated: number;
}

/**
 * The deliveries of a round without faults, counted from the other end: a packet is owed to each agent but its sender, and undeliverable
 * for an agent that was gone when it came. What is owed and what the links say must be the same.
 */
export class DeliveryLedger {
  #network: MeshNetwork | undefined;
  #broadcasts = 0;
  /** What had been relayed when an agent was lost. */
  readonly #gone = new Map<string, number>();
  readonly #missed = new Map<string, number>();

  watch(network: MeshNetwork): void {
    this.#network = network;
  }

  broadcast(): void {
    this.#broadcasts += 1;
  }

  lost(id: string): void {
    this.#gone.set(id, this.#relayed);
  }

  back(id: string): void {
    const missed = this.#relayed - (this.#gone.get(id) ?? this.#relayed);
    this.#missed.set(id, (this.#missed.get(id) ?? 0) + missed);
    this.#gone.delete(id);
  }

  /** `faulty`: what stood between relay and links has counted, if anything did. */
  fates(faulty: DeliveryCounters | undefined): Fates {
    const links = this.#links;
    const sum = (of: (link: (typeof links)[number]) => number) =>
      links.reduce((total, link) => total + of(link), 0);
    const missed = [...this.#missed.values()].reduce((total, count) => total + count, 0);
    return {
      offered: faulty?.offered.packets ?? this.#ids.reduce((total, id) => total + this.#owed(id), 0),
      received: sum(({ ledgerReport }) => ledgerReport?.received.packets ?? 0),
      refused: sum(({ ledgerReport }) => ledgerReport?.refused.packets ?? 0),
      unconfirmed: sum(({ ledgerReport, counts }) => (ledgerReport === undefined ? counts.packetsTx : 0)),
      undeliverable: faulty?.undeliverable.packets ?? missed,
      dropped: faulty === undefined ? 0 : faulty.dropped.packets + faulty.partitioned.packets,
      duplicated: faulty?.duplicated.packets ?? 0,
    };
  }

  /** Where the fates do not sum to what was offered. */
  differences(isFaulty: boolean): string[] {
    if (isFaulty) return [];
    return this.#ids.flatMap((id) => {
      const own = this.#links.filter(({ node }) => node.id === id);
      const delivered = own.reduce((sum, { counts }) => sum + counts.packetsTx, 0);
      const missed = this.#missed.get(id) ?? 0;
      const owed = this.#owed(id);
      if (owed === delivered + missed) return [];
      return [`agent ${id}: ${owed} packets were for it, ${delivered} delivered and ${missed} undeliverable`];
    });
  }

  get #links() {
    const { links = [], formerLinks = [] } = this.#network ?? {};
    return [...formerLinks, ...links];
  }

  get #ids(): string[] {
    return [...new Set(this.#links.map(({ node }) => node.id))];
  }

  get #relayed(): number {
    return this.#links.reduce((sum, { counts }) => sum + counts.packetsRx, this.#broadcasts);
  }

  #owed(id: string): number {
    const others = this.#links.filter(({ node }) => node.id !== id);
    return others.reduce((sum, { counts }) => sum + counts.packetsRx, this.#broadcasts);
  }
}
