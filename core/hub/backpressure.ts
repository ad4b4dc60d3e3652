import { MeshError } from '../contracts/errors.ts';
import { MAX_LINK_QUEUE_BYTES, STALL_TIMEOUT_MS } from '../contracts/limits.ts';
import type { Link } from './link.ts';

/** So often nothing must have moved: a process that was stopped itself, however long, has missed one look and not the others. */
const LOOKS = 4;

/** Why a link is not read from; see `Link.holdReading`. */
const FULL_QUEUE = 'full queue';

/**
 * While one destination's queue is full, nothing is read from any agent, so memory stays bounded whatever they do; a destination
 * that takes nothing for too long is cut off.
 */
export class Backpressure {
  readonly #links: readonly Link[];
  readonly #stallTimeoutMs: number;
  readonly #full = new Set<Link>();

  constructor(links: readonly Link[], stallTimeoutMs = STALL_TIMEOUT_MS) {
    this.#links = links;
    this.#stallTimeoutMs = stallTimeoutMs;
  }

  /** Call it after a write to `link` that the system has not taken whole; see `Link.onBacklog`. */
  check(link: Link): void {
    if (link.socket.queuedBytes <= MAX_LINK_QUEUE_BYTES || this.#full.has(link)) return;
    this.#full.add(link);
    for (const other of this.#links) other.holdReading(FULL_QUEUE);
    let queuedBytes = link.socket.queuedBytes;
    let looksInVain = 0;
    const stall = setInterval(() => {
      const isMoving = link.socket.queuedBytes < queuedBytes;
      queuedBytes = link.socket.queuedBytes;
      looksInVain = isMoving ? 0 : looksInVain + 1;
      if (looksInVain < LOOKS) return;
      const seconds = this.#stallTimeoutMs / 1000;
      link.socket.reset(new MeshError('agent', `took no bytes for ${seconds} s with a full queue`));
    }, this.#stallTimeoutMs / LOOKS);
    void link.socket.drained().then(() => {
      clearInterval(stall);
      this.#full.delete(link);
      if (this.#full.size === 0) for (const other of this.#links) other.releaseReading(FULL_QUEUE);
    });
  }
}
