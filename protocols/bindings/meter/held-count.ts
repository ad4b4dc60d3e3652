import type { MessageCount } from './body-counter.ts';

/** Holds what is counted until it is known for whom. */
export class HeldCount implements MessageCount {
  #bytes = 0;
  #messages = 0;
  #to: MessageCount | undefined;

  add(bytes: number, messages: number): void {
    if (this.#to === undefined) {
      this.#bytes += bytes;
      this.#messages += messages;
    } else {
      this.#to.add(bytes, messages);
    }
  }

  /** Without `to`, it was nobody's. */
  passTo(to: MessageCount | undefined): void {
    to?.add(this.#bytes, this.#messages);
    this.#to = to;
  }
}
