import { readMonotonicUs } from '../../system/clock.ts';
import type { Batch, Message } from '../batch.ts';
import type { Link } from '../link.ts';
import { DeliveryStrategy } from './delivery-strategy.ts';
import { MAX_COALESCED_BYTES, WriteCoalescer } from './write-coalescer.ts';

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
