import { readMonotonicUs } from '../../system/clock.ts';
import { SLAB_BYTES, type Slab, slabs } from '../../wire/slab.ts';
import type { Batch, Message } from '../batch.ts';
import type { Link } from '../link.ts';
import { DeliveryStrategy } from './delivery-strategy.ts';

/** Longer batches are written at once: copying them would cost more than the call of the system that it spares. */
export const MAX_COALESCED_BYTES = 16 * 1024;

/**
 * What comes in small batches within one turn of the event loop, copied once, one behind the other. At the turn's end each destination
 * gets what is for it with one write: where all hear all, everything less its own bytes, in two slices at most.
 */
class WriteCoalescer {
  readonly #waiting: Link[] = [];
  /** Slabs that were filled in this turn. */
  readonly #full: Slab[] = [];
  #slab: Slab = slabs.take();
  #end = 0;

  /** Takes `packets` frames, {@link MAX_COALESCED_BYTES} at most, for `links`. The bytes may be overwritten afterwards. */
  add(frames: Uint8Array, packets: number, links: readonly Link[]): void {
    if (this.#end + frames.length > SLAB_BYTES) {
      this.#full.push(this.#slab);
      this.#slab = slabs.take();
      this.#end = 0;
    }
    const start = this.#end;
    this.#slab.bytes.set(frames, start);
    this.#end += frames.length;
    for (const link of links) {
      if (link.defer(this.#slab, start, this.#end, packets)) this.#waiting.push(link);
    }
  }

  flush(): void {
    for (const link of this.#waiting) link.flush();
    this.#waiting.length = 0;
    for (const slab of this.#full) slab.release();
    this.#full.length = 0;
    if (this.#slab.isUnshared) this.#end = 0;
  }
}

/** Bytes go on as they came, at most once: large batches at once, small ones together at the end of the turn. */
export class DirectDelivery extends DeliveryStrategy {
  readonly isLossy = false;
  readonly #coalescer = new WriteCoalescer();

  deliver(batch: Batch): void {
    const { slab, start, end, size, recipients } = batch;
    if (end - start <= MAX_COALESCED_BYTES) {
      this.#coalescer.add(slab.bytes.subarray(start, end), size, recipients);
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
