import { ACK_DELAY_MS, IN_PROGRESS_AFTER_MS, MAX_ACK_IDS } from '../contracts/limits.ts';
import type { JsonObject } from '../contracts/packet.ts';

/**
 * What an agent tells the hub about packets that were delivered to it: done with, or in progress. Told together, since each
 * telling costs an envelope.
 */
export class Receipts {
  readonly #send: (payload: JsonObject) => void;
  readonly #sendsProgress: boolean;
  #done: string[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** Packets that are worked on and were not told of. */
  readonly #untold = new Set<string>();
  #progressTimer: NodeJS.Timeout | undefined;

  /** `tellsProgress`: the hub wants to know of packets that are worked on, too, since it takes others for lost. */
  constructor(send: (payload: JsonObject) => void, tellsProgress: boolean) {
    this.#send = send;
    this.#sendsProgress = tellsProgress;
  }

  /** Work for a packet begins. */
  begun(id: string): void {
    if (!this.#sendsProgress) return;
    this.#untold.add(id);
    this.#progressTimer ??= setTimeout(() => {
      this.#progressTimer = undefined;
      const ids = [...this.#untold];
      this.#untold.clear();
      for (let from = 0; from < ids.length; from += MAX_ACK_IDS)
        this.#send({ in_progress: ids.slice(from, from + MAX_ACK_IDS) });
    }, IN_PROGRESS_AFTER_MS);
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
    clearTimeout(this.#progressTimer);
    this.#done = [];
    this.#untold.clear();
  }
}
