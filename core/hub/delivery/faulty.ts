import { FAULT_LIMITS } from '../../contracts/limits.ts';
import { readMonotonicUs } from '../../system/clock.ts';
import { PREFIX_BYTES } from '../../wire/frame.ts';
import type { Batch, Message } from '../batch.ts';
import type { Fault } from '../faults/fault.ts';
import { FaultCounters } from '../faults/fault-counters.ts';
import { type Decision, planRouteFaults } from '../faults/fault-plan.ts';
import type { Link } from '../link.ts';
import { DeliveryStrategy } from './delivery-strategy.ts';
import { type Offer, type PendingFrame, PendingFrames } from './pending-frames.ts';

/** One fault on one delivery, or a delivery whose destination was missing. */
export interface DeliveryEvent extends Offer {
  readonly kind: 'drop' | 'dup' | 'corrupt' | 'delay' | 'undeliverable' | 'lie';
  readonly delayMs?: number;
}

interface FaultyDeliveryOptions {
  readonly seed: number;
  readonly faults: readonly Fault[];
  /** Maximum bytes that may wait; the default is {@link FAULT_LIMITS.heldBytes}. */
  readonly maxHeldBytes?: number | undefined;
  readonly onEvent: (event: DeliveryEvent) => void;
}

const joinLieKey = (agent: string, type: string) => `${agent}@${type}`;

/** A route and its progress. */
interface RouteState {
  readonly decide: (packetNumber: number) => Decision;
  readonly pending: PendingFrames;
  packets: number;
  lastDueMs: number;
}

const FATES = { drop: 'dropped', undeliverable: 'undeliverable' } as const;

/**
 * Copies a frame and flips one bit of its blob. The length prefix stays intact, since the connection would
 * fail otherwise.
 */
function corruptFrame(frame: Buffer, at: number): Buffer {
  const copy = Buffer.from(frame);
  const bit = Math.floor(at * (copy.length - PREFIX_BYTES) * 8);
  const index = PREFIX_BYTES + (bit >>> 3);
  copy[index] = (copy[index] ?? 0) ^ (1 << (bit & 7));
  return copy;
}

/**
 * Makes each delivery separately, with the requested faults: the plan decides its fate, which is counted.
 * Lost links stay destinations, so that the packets they miss are counted.
 */
export class FaultyDelivery extends DeliveryStrategy {
  readonly isLossy: boolean;
  readonly counters = new FaultCounters();
  readonly #options: FaultyDeliveryOptions;
  readonly #maxHeldBytes: number;
  readonly #routes = new Map<string, RouteState>();
  readonly #lies: ReadonlySet<string>;
  #heldBytes = 0;

  constructor(options: FaultyDeliveryOptions) {
    super();
    this.#options = options;
    // A lie does arrive.
    this.isLossy = options.faults.some(({ kind }) => kind !== 'lie');
    this.#lies = new Set(
      options.faults.flatMap((fault) => (fault.kind === 'lie' ? [joinLieKey(fault.agent, fault.type)] : [])),
    );
    this.#maxHeldBytes = options.maxHeldBytes ?? FAULT_LIMITS.heldBytes;
  }

  deliver(batch: Batch): void {
    batch.forwardedUs = readMonotonicUs();
    for (const message of batch.messages()) for (const link of batch.recipients) this.carry(message, link);
  }

  carry({ from, head: packet, frame }: Message, link: Link): void {
    const to = link.node.id;
    const route = this.#route(from, to);
    route.packets += 1;
    const offer = { from, to, number: route.packets, bytes: frame.length, packet };
    const { onEvent } = this.#options;
    const { counters } = this;
    counters.count('offered', offer);
    const { drop, dup, corruptAt, delayMs } = route.decide(offer.number);
    const isTooMuch = this.#heldBytes + frame.length > this.#maxHeldBytes;
    if (!link.alive || drop) {
      this.#lose(link.alive ? 'drop' : 'undeliverable', offer);
      return;
    }
    if (this.#lies.has(joinLieKey(from, packet.type))) {
      counters.count('lied', offer);
      onEvent({ kind: 'lie', ...offer });
    }
    if (corruptAt !== null) {
      counters.count('corrupted', offer);
      onEvent({ kind: 'corrupt', ...offer });
    }
    if (dup) onEvent({ kind: 'dup', ...offer });
    if (delayMs > 0) {
      counters.count('delayed', offer);
      onEvent({ kind: 'delay', ...offer, delayMs });
    }
    // Never earlier than waiting packets of the same route.
    const dueMs = Math.max(route.lastDueMs, performance.now() + delayMs);
    const bytes = corruptAt === null ? frame : corruptFrame(frame, corruptAt);
    const pending: PendingFrame = { offer, link, frame: bytes, copies: dup ? 2 : 1, dueMs };
    if (delayMs === 0 && route.pending.isEmpty) {
      this.#write(pending);
    } else if (isTooMuch) {
      for (const earlier of route.pending.takeAll()) this.#writeEarly(earlier);
      counters.count('early', offer);
      this.#write(pending);
    } else {
      this.#heldBytes += bytes.length;
      route.lastDueMs = dueMs;
      route.pending.add(pending);
    }
  }

  override reaches(): boolean {
    return true;
  }

  end(): void {
    for (const { pending } of this.#routes.values())
      for (const frame of pending.takeAll()) this.#writeHeld(frame);
  }

  #lose(kind: keyof typeof FATES, offer: Offer): void {
    this.counters.count(FATES[kind], offer);
    this.#options.onEvent({ kind, ...offer });
  }

  #write({ offer, link, frame, copies }: PendingFrame): void {
    if (!link.alive) {
      this.#lose('undeliverable', offer);
      return;
    }
    for (let copy = 1; copy <= copies; copy++) {
      this.counters.count(copy === 1 ? 'delivered' : 'duplicated', offer);
      link.deliver(frame);
    }
  }

  #writeHeld(frame: PendingFrame): void {
    this.#heldBytes -= frame.frame.length;
    this.#write(frame);
  }

  #writeEarly(frame: PendingFrame): void {
    this.counters.count('early', frame.offer);
    this.#writeHeld(frame);
  }

  #route(from: string, to: string): RouteState {
    // No id contains a `>`.
    const key = `${from}>${to}`;
    let route = this.#routes.get(key);
    if (route === undefined) {
      const { seed, faults } = this.#options;
      const pending = new PendingFrames((frame) => this.#writeHeld(frame));
      route = { decide: planRouteFaults(seed, faults, { from, to }), pending, packets: 0, lastDueMs: 0 };
      this.#routes.set(key, route);
    }
    return route;
  }
}
