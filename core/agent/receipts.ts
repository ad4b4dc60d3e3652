import { ACK_DELAY_MS, HERE_AFTER_MS, MAX_ACK_IDS } from '../limits.ts';
import type { JsonObject } from '../packet.ts';

/**
 * What an agent tells the hub about packets that were delivered to it: done with, or here and worked on. Told together, since each
 * telling costs an envelope.
 */
export class Receipts {
  readonly #send: (payload: JsonObject) => void;
  readonly #tellsHere: boolean;
  #done: string[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** Packets that are worked on and were not told of. */
  readonly #untold = new Set<string>();
  #hereTimer: NodeJS.Timeout | undefined;

  /** `tellsHere`: the hub wants to know of packets that are worked on, too, since it takes others for lost. */
  constructor(send: (payload: JsonObject) => void, tellsHere: boolean) {
    this.#send = send;
    this.#tellsHere = tellsHere;
  }

  /** Work for a packet begins. */
  begun(id: string): void {
    if (!this.#tellsHere) return;
    this.#untold.add(id);
    this.#hereTimer ??= setTimeout(() => {
      this.#hereTimer = undefined;
      const here = [...this.#untold];
      this.#untold.clear();
      for (let from = 0; from < here.length; from += MAX_ACK_IDS)
        this.#send({ here: here.slice(from, from + MAX_ACK_IDS) });
    }, HERE_AFTER_MS);
  }

  done(id: string): void {
    this.#untold.delete(id);
    this.#done.push(id);
    if (this.#done.length >= MAX_ACK_IDS) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), ACK_DELAY_MS);
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#done.length === 0) return;
    this.#send({ done: this.#done });
    this.#done = [];
  }

  /** Says nothing any more. */
  end(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#hereTimer);
    this.#done = [];
    this.#untold.clear();
  }
}
