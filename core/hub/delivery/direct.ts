import { readMonotonicUs } from '../../system/clock.ts';
import { SLAB_BYTES, type Slab, slabs } from '../../wire/slab.ts';
import type { Batch, Message } from '../batch.ts';
import { emptyList, type Link } from '../link.ts';
import { DeliveryStrategy } from './delivery-strategy.ts';

/**
 * Batches above this size are written at once: copying them costs more than the system call that it saves.
 */
const MAX_COALESCED_BYTES = 16 * 1024;

/**
 * Copies the small batches of one event-loop turn one behind the other. At the end of the turn each
 * destination gets its part with one write: in a broadcast that is everything except its own bytes, in two
 * slices at most.
 */
class WriteCoalescer {
  readonly #waiting: Link[] = [];
  /** Slabs that were filled during this turn. */
  readonly #full: Slab[] = [];
  #slab: Slab = slabs.take();
  #end = 0;

  /** Takes a batch of at most {@link MAX_COALESCED_BYTES}, whose bytes the caller may overwrite afterwards. */
  add({ slab, start: from, end: to, size, recipients }: Batch): void {
    if (this.#end + to - from > SLAB_BYTES) {
      this.#full.push(this.#slab);
      this.#slab = slabs.take();
      this.#end = 0;
    }
    const start = this.#end;
    this.#end += slab.bytes.copy(this.#slab.bytes, start, from, to);
    for (const link of recipients) {
      if (link.defer(this.#slab, start, this.#end, size)) this.#waiting.push(link);
    }
  }

  flush(): void {
    for (const link of this.#waiting) link.flush();
    emptyList(this.#waiting);
    for (const slab of this.#full) slab.release();
    this.#full.length = 0;
    if (this.#slab.isUnshared) this.#end = 0;
  }
}

/**
 * Forwards bytes unchanged, at most once: large batches immediately, small ones together at the end of the
 * turn.
 */
export class DirectDelivery extends DeliveryStrategy {
  readonly isLossy = false;
  readonly #coalescer = new WriteCoalescer();

  override deliver(batch: Batch): void {
    const { slab, start, end, size, recipients } = batch;
    if (end - start <= MAX_COALESCED_BYTES) {
      this.#coalescer.add(batch);
      return;
    }
    batch.forwardedUs = readMonotonicUs();
    for (const link of recipients) link.deliverPart(slab, start, end, size);
  }

  carry({ frame }: Message, link: Link): void {
    link.deliver(frame);
  }

  override flush(): void {
    this.#coalescer.flush();
  }

  end(): void {
    this.flush();
  }
}
