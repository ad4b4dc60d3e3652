/** Violations that one connection reports: they mostly have one cause. */
const MAX_VIOLATIONS = 5;

/**
 * Checks the packets that one connection brings: each sender's come in the order of their numbers, none twice, none left out. Ids
 * are `<session>-<number>`; a sender that begins another session begins anew.
 */
export class PacketOrder {
  readonly #onViolation: (message: string) => void;
  readonly #senders = new Map<string, { session: string; first: number; last: number }>();
  readonly #isLossy: boolean;
  #violations = 0;
  #furthest = 0;

  /** `isLossy`: some may be missing or come twice, since it was asked for. */
  constructor(isLossy: boolean, onViolation: (message: string) => void) {
    this.#isLossy = isLossy;
    this.#onViolation = onViolation;
  }

  /** How far the one has come that came furthest: packets since the first one that was seen of it. */
  get furthest(): number {
    return this.#furthest;
  }

  saw(from: string, id: string): void {
    const dash = id.lastIndexOf('-');
    const session = id.slice(0, dash);
    const number = Number(id.slice(dash + 1));
    const sender = this.#senders.get(from);
    if (sender?.session !== session) {
      this.#senders.set(from, { session, first: number, last: number });
      return;
    }
    if (number !== sender.last + 1 && !this.#isLossy && this.#violations < MAX_VIOLATIONS) {
      this.#violations += 1;
      this.#onViolation(`packet ${id} of ${from} came after its ${sender.last}`);
    }
    sender.last = number;
    this.#furthest = Math.max(this.#furthest, number - sender.first + 1);
  }
}
