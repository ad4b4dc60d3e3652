import type { DeliveryCounters } from '@gaia-mesh/core/hub/faults/fault-counters.ts';
import type { MeshNetwork } from '@gaia-mesh/core/hub/mesh-network.ts';

/** Fates of the deliveries of a round: each is on exactly one line. */
export interface Fates {
  /** One for each packet and each agent but its sender. */
  readonly offered: number;
  /** Deliveries in the recipients' ledgers: read, or refused as corrupted. */
  readonly received: number;
  readonly refused: number;
  /** Deliveries to a connection that then ended: the number that arrived is unknown. */
  readonly unconfirmed: number;
  /** Deliveries for an agent that was absent. */
  readonly undeliverable: number;
  /** Deliveries that faults dropped, and copies that they added. */
  readonly dropped: number;
  readonly duplicated: number;
}

/**
 * The deliveries of a round without faults, counted from the other end: a packet is owed to each agent but
 * its sender, and undeliverable for an agent that was gone when it came. The packets owed must equal the
 * links' counts.
 */
export class DeliveryLedger {
  #network: MeshNetwork | undefined;
  #broadcasts = 0;
  /** Number of packets relayed when an agent was lost. */
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

  /** Returns the fates; `faulty` has the counts of the faulty delivery, if there was one. */
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

  /** Lists where the fates do not sum to the offered deliveries. */
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
