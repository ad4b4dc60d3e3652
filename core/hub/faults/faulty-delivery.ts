import type { RunUse } from '../../frame.ts';
import { MAX_HELD_DELIVERY_BYTES } from '../../limits.ts';
import type { PacketHead } from '../../packet.ts';
import type { Link } from '../link.ts';
import { corrupted } from './corrupted-frame.ts';
import { type Delivery, DeliveryLine, type Offer } from './delivery-line.ts';
import type { Fault } from './fault.ts';
import type { FaultBooks } from './fault-books.ts';
import { type Decision, planOfWay } from './fault-plan.ts';
import { Outages } from './outages.ts';

/** One fault on one delivery, or a delivery that its destination was not there for. */
export interface DeliveryEvent extends Offer {
  readonly kind: 'drop' | 'dup' | 'corrupt' | 'delay' | 'partition' | 'undeliverable';
  readonly delayMs?: number;
}

export interface FaultyDeliveryOptions {
  readonly seed: number;
  readonly faults: readonly Fault[];
  readonly books: FaultBooks;
  /** Bytes that may wait; {@link MAX_HELD_DELIVERY_BYTES} if not given. */
  readonly maxHeldBytes?: number;
  readonly onEvent: (event: DeliveryEvent) => void;
}

/** A way, and how far it has come. */
interface WayState {
  readonly decide: (packetNumber: number) => Decision;
  readonly line: DeliveryLine;
  packets: number;
  lastDueMs: number;
}

const FATES = { drop: 'dropped', partition: 'partitioned', undeliverable: 'undeliverable' } as const;

/**
 * Stands between the relay and the links of a run with faults: every delivery goes through it one by one, is decided by the
 * plan, and is booked. Links that are lost stay destinations, so that what they miss is counted.
 */
export class FaultyDelivery {
  readonly outages: Outages = new Outages((id) => this.#releaseTo(id));
  readonly #options: FaultyDeliveryOptions;
  readonly #maxHeldBytes: number;
  readonly #onLateWrite: (link: Link) => void;
  readonly #ways = new Map<string, WayState>();
  #heldBytes = 0;

  /** `onLateWrite` is told of deliveries that are made later than they were offered. */
  constructor(options: FaultyDeliveryOptions, onLateWrite: (link: Link) => void) {
    this.#options = options;
    this.#maxHeldBytes = options.maxHeldBytes ?? MAX_HELD_DELIVERY_BYTES;
    this.#onLateWrite = onLateWrite;
  }

  /** Takes one frame for `link`; says as `Link.deliver` does whether its bytes are still in use. */
  deliver(from: string, link: Link, frame: Buffer, packet: PacketHead | undefined): RunUse {
    const to = link.node.id;
    const way = this.#way(from, to);
    way.packets += 1;
    const offer = { from, to, number: way.packets, bytes: frame.length, packet };
    const { books, onEvent } = this.#options;
    books.note('offered', to, frame.length);
    const { drop, dup, corruptAt, delayMs } = way.decide(offer.number);
    const isStalled = this.outages.isStalled(to);
    const isTooMuch = this.#heldBytes + frame.length > this.#maxHeldBytes;
    if (!link.alive || (isStalled && isTooMuch)) return this.#lose('undeliverable', offer);
    if (this.outages.isCut(from, to)) return this.#lose('partition', offer);
    if (drop) return this.#lose('drop', offer);
    if (corruptAt !== null) {
      books.note('corrupted', to, frame.length, packet?.task_id);
      onEvent({ kind: 'corrupt', ...offer });
    }
    if (dup) onEvent({ kind: 'dup', ...offer });
    if (delayMs > 0) {
      books.note('delayed', to, frame.length);
      onEvent({ kind: 'delay', ...offer, delayMs });
    }
    // Never before those of the same way that wait.
    const dueMs = Math.max(way.lastDueMs, performance.now() + delayMs);
    const bytes = corruptAt === null ? frame : corrupted(frame, corruptAt);
    const delivery: Delivery = { offer, link, frame: bytes, copies: dup ? 2 : 1, dueMs };
    if (delayMs === 0 && way.line.isEmpty && !isStalled) return this.#write(delivery);
    if (isTooMuch) {
      for (const earlier of way.line.takeAll()) this.#writeEarly(earlier);
      books.note('early', to, frame.length);
      return this.#write(delivery);
    }
    this.#heldBytes += bytes.length;
    way.lastDueMs = dueMs;
    // The relay's bytes are written over when it is done with them.
    way.line.add({ ...delivery, frame: bytes === frame ? Buffer.from(frame) : bytes });
    return 'done';
  }

  /** The run is over: what waits is delivered, so that the books can be closed. */
  end(): void {
    this.outages.end();
    for (const { line } of this.#ways.values()) for (const held of line.takeAll()) this.#writeLate(held);
  }

  #lose(kind: keyof typeof FATES, offer: Offer): RunUse {
    this.#options.books.note(FATES[kind], offer.to, offer.bytes, offer.packet?.task_id);
    this.#options.onEvent({ kind, ...offer });
    return 'done';
  }

  #write({ offer, link, frame, copies }: Delivery): RunUse {
    if (!link.alive) return this.#lose('undeliverable', offer);
    let use: RunUse = 'done';
    for (let copy = 1; copy <= copies; copy++) {
      this.#options.books.note(copy === 1 ? 'delivered' : 'duplicated', offer.to, frame.length);
      if (link.deliver(frame, 1) === 'kept') use = 'kept';
    }
    return use;
  }

  #writeLate(delivery: Delivery): void {
    this.#heldBytes -= delivery.frame.length;
    this.#write(delivery);
    this.#onLateWrite(delivery.link);
  }

  #writeEarly(delivery: Delivery): void {
    this.#options.books.note('early', delivery.offer.to, delivery.offer.bytes);
    this.#writeLate(delivery);
  }

  #releaseTo(id: string): void {
    for (const [key, { line }] of this.#ways) if (key.endsWith(`>${id}`)) line.release();
  }

  #way(from: string, to: string): WayState {
    // No id holds a `>`.
    const key = `${from}>${to}`;
    let way = this.#ways.get(key);
    if (way === undefined) {
      const { seed, faults } = this.#options;
      const line = new DeliveryLine(
        (delivery) => this.#writeLate(delivery),
        () => this.outages.isStalled(to),
      );
      way = { decide: planOfWay(seed, faults, { from, to }), line, packets: 0, lastDueMs: 0 };
      this.#ways.set(key, way);
    }
    return way;
  }
}
