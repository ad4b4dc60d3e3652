import type { Batch, Message } from '../batch.ts';
import type { Link } from '../link.ts';
import type { DeliveryStrategy } from './delivery-strategy.ts';

/** What is under way when a connection ends is lost: nothing is kept for anybody, and nothing comes again. */
export abstract class AtMostOnceDelivery implements DeliveryStrategy {
  abstract readonly isLossy: boolean;
  abstract deliver(batch: Batch): void;
  abstract carry(message: Message, link: Link): void;
  abstract flush(): void;
  abstract admit(link: Link): void;
  abstract reaches(): boolean;
  abstract end(): void;

  terms(): undefined {
    return undefined;
  }

  awaits(): boolean {
    return false;
  }

  receive(): boolean {
    return true;
  }

  lost(): void {
    // Nothing was kept for it.
  }

  abandon(): void {
    // Nothing was kept for it.
  }

  acknowledge(): void {
    // Nobody asked for it.
  }
}
