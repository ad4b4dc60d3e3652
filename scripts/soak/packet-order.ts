/** Violations that one connection reports: they mostly have one cause. */
const MAX_VIOLATIONS = 5;

/**
 * Checks the packets that one connection brings: each sender's come in the order of their numbers, none twice, none left out. Ids
 * are `<session>-<number>`; a sender that begins another session begins anew.
 */
export class PacketOrder {
  readonly #onViolation: (message: string) => void;
  readonly #last = new Map<string, { session: string; number: number }>();
  readonly #isLossy: boolean;
  #violations = 0;

  /** `isLossy`: some may be missing or come twice, since it was asked for. */
  constructor(isLossy: boolean, onViolation: (message: string) => void) {
    this.#isLossy = isLossy;
    this.#onViolation = onViolation;
  }

  saw(from: string, id: string): void {
    const dash = id.lastIndexOf('-');
    const session = id.slice(0, dash);
    const number = Number(id.slice(dash + 1));
    const last = this.#last.get(from);
    if (
      last?.session === session &&
      number !== last.number + 1 &&
      !this.#isLossy &&
      this.#violations < MAX_VIOLATIONS
    ) {
      this.#violations += 1;
      this.#onViolation(`packet ${id} of ${from} came after its ${last.number}`);
    }
    if (last === undefined) this.#last.set(from, { session, number });
    else {
      last.session = session;
      last.number = number;
    }
  }
}
