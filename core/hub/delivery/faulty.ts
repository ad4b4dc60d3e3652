import { createHash } from 'node:crypto';
import { FAULT_LIMITS } from '../../contracts/limits.ts';
import { Random } from '../../system/random.ts';
import { PREFIX_BYTES } from '../../wire/frame.ts';
import type { Message } from '../batch.ts';
import { FaultCounters, type Offer } from '../faults/fault-counters.ts';
import type { Fault, Route } from '../faults/parse-faults.ts';
import type { Link } from '../link.ts';
import { DeliveryStrategy } from './delivery-strategy.ts';

/** A delivery that is waiting to be made. */
interface PendingFrame {
  readonly offer: Offer;
  readonly link: Link;
  readonly frame: Buffer;
  readonly copies: number;
  /** Due time in monotonic milliseconds. */
  readonly dueMs: number;
}

/** Waiting frames of one route: first in, first out, so that a sender's packets keep their order. */
class PendingFrames {
  readonly #deliver: (frame: PendingFrame) => void;
  readonly #waiting: PendingFrame[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(deliver: (frame: PendingFrame) => void) {
    this.#deliver = deliver;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  add(frame: PendingFrame): void {
    this.#waiting.push(frame);
    if (this.#timer === undefined) this.#release();
  }

  /** Delivers the frames that are due, and sets a timer for the next one. */
  #release(): void {
    this.#stopTimer();
    for (;;) {
      const [first] = this.#waiting;
      if (first === undefined) return;
      const leftMs = first.dueMs - performance.now();
      if (leftMs > 0) {
        this.#timer = setTimeout(() => this.#release(), Math.ceil(leftMs));
        return;
      }
      this.#waiting.shift();
      this.#deliver(first);
    }
  }

  /** Removes and returns all waiting frames, to be delivered early. */
  takeAll(): PendingFrame[] {
    this.#stopTimer();
    return this.#waiting.splice(0);
  }

  #stopTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

/** Faults of one delivery. */
interface Decision {
  readonly drop: boolean;
  readonly dup: boolean;
  /**
   * Position of the flipped bit as a fraction of the blob's length, from 0 to below 1; null for no
   * corruption.
   */
  readonly corruptAt: number | null;
  readonly delayMs: number;
}

/**
 * Plans the faults of one route. Packet `number` (from 1) always has the same fate, because nothing but seed,
 * sender, destination and number decides. Among several faults of a kind, the first that names the route
 * applies, otherwise the one without a route.
 */
export function planRouteFaults(
  seed: number,
  faults: readonly Fault[],
  route: Route,
): (packetNumber: number) => Decision {
  const dropRate = readFaultRate('drop', faults, route);
  const dupRate = readFaultRate('dup', faults, route);
  const corruptRate = readFaultRate('corrupt', faults, route);
  const delay = findRouteFault(
    faults.filter((fault) => fault.kind === 'delay'),
    route,
  );
  const start = hashRouteStart(seed, route);
  return (packetNumber) => {
    const random = new Random(start + packetNumber);
    // All numbers are drawn regardless of the requested faults, so that adding a kind changes nothing about
    // the others.
    const drop = random.uniform();
    const dup = random.uniform();
    const corrupt = random.uniform();
    const place = random.uniform();
    const spread = random.uniform();
    return {
      drop: drop < dropRate,
      dup: dup < dupRate,
      corruptAt: corrupt < corruptRate ? place : null,
      delayMs: delay === undefined ? 0 : delay.ms + (2 * spread - 1) * delay.spreadMs,
    };
  };
}

function readFaultRate(kind: 'drop' | 'dup' | 'corrupt', faults: readonly Fault[], route: Route): number {
  const rates = faults.filter((fault) => 'rate' in fault).filter((fault) => fault.kind === kind);
  return findRouteFault(rates, route)?.rate ?? 0;
}

function findRouteFault<F extends { readonly route?: Route | undefined }>(
  faults: readonly F[],
  { from, to }: Route,
): F | undefined {
  const named = faults.find(({ route }) => route?.from === from && route.to === to);
  return named ?? faults.find(({ route }) => route === undefined);
}

/** Returns 48 bits, so that adding a packet's number stays exact. */
function hashRouteStart(seed: number, { from, to }: Route): number {
  const text = JSON.stringify([seed, from, to]);
  return createHash('sha256').update(text).digest().readUIntBE(0, 6);
}

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
