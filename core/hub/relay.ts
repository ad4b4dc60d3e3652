import { readMonotonicUs } from '../system/clock.ts';
import type { FrameRun } from '../wire/frame.ts';
import type { Authorizer } from './authorizer.ts';
import { Batch } from './batch.ts';
import type { DeliveryStrategy } from './delivery/delivery-strategy.ts';
import { emptyList, type Link } from './link.ts';
import type { MeshObserver } from './mesh-observer.ts';

/**
 * Maximum packets and bytes that are held until the end of a turn; above either, the relay flushes at once.
 */
const MAX_TURN_PACKETS = 4096;
const MAX_TURN_BYTES = 4 * 1024 * 1024;

/**
 * Forwards packets from agents, byte for byte. Neighbours that go to the same agents form one batch; at the
 * end of the event loop's turn held-back data is written and the observer is called. The order of each
 * sender's packets is kept.
 */
export class Relay {
  readonly #authorizer: Authorizer;
  readonly #delivery: DeliveryStrategy;
  readonly #observer: MeshObserver;
  #turn: Batch[] = [];
  /** An empty list, which {@link flush} exchanges for the turn's. */
  #spare: Batch[] = [];
  #turnPackets = 0;
  #turnBytes = 0;
  #isScheduled = false;

  constructor(authorizer: Authorizer, delivery: DeliveryStrategy, observer: MeshObserver) {
    this.#authorizer = authorizer;
    this.#delivery = delivery;
    this.#observer = observer;
  }

  /** Takes one run of frames; pass it to the socket's `start`. */
  relay(sender: Link, run: FrameRun): void {
    const nowMs = performance.now();
    const arrivedUs = readMonotonicUs();
    let batch: Batch | undefined;
    while (run.next()) {
      const packet = this.#authorizer.authorize(sender, run, nowMs);
      if (batch !== undefined && packet?.recipients !== batch.recipients) {
        this.#deliver(batch);
        batch = undefined;
      }
      if (packet === undefined) continue;
      batch ??= new Batch(sender, packet.recipients, run.slab, run.end - packet.frameBytes, arrivedUs);
      batch.add(packet);
    }
    if (batch !== undefined) this.#deliver(batch);
  }

  /** Writes the data that waits for the end of the turn, and reports the batches to the observer. */
  flush(): void {
    const flushedUs = readMonotonicUs();
    this.#delivery.flush();
    this.#turnPackets = 0;
    this.#turnBytes = 0;
    const turn = this.#turn;
    this.#turn = this.#spare;
    this.#spare = [];
    for (const batch of turn) {
      if (batch.forwardedUs === 0) batch.forwardedUs = flushedUs;
      this.#observer.relayed(batch);
      batch.release();
    }
    emptyList(turn);
    this.#spare = turn;
  }

  #deliver(batch: Batch): void {
    if (batch.recipients.length > 0) this.#delivery.deliver(batch);
    this.#turn.push(batch);
    this.#turnPackets += batch.size;
    this.#turnBytes += batch.end - batch.start;
    if (this.#turnPackets > MAX_TURN_PACKETS || this.#turnBytes > MAX_TURN_BYTES) this.flush();
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(this.#endTurn);
  }

  readonly #endTurn = (): void => {
    this.#isScheduled = false;
    this.flush();
  };
}
