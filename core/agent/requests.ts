import { MeshError } from '../contracts/errors.ts';
import { AGENT_LIMITS } from '../contracts/limits.ts';
import type { Packet } from '../contracts/packet.ts';
import type { AskOptions } from '../contracts/tool.ts';
import { onAbort } from '../system/process/abort.ts';

/** A received packet, with its arrival time (monotonic) and its decoding time in microseconds. */
export interface Received {
  readonly packet: Packet;
  readonly receivedUs: number;
  readonly decodeUs: number;
}

interface OpenRequest {
  readonly partner: string;
  readonly settle: (reply: Received | MeshError) => void;
}

/**
 * The requests of an agent that wait for their replies. A reply counts only if it comes from the agent that
 * was asked; a second reply or a late one changes nothing.
 */
export class Requests {
  readonly #open = new Map<string, OpenRequest>();
  readonly #lost = new Set<string>();

  /** True while a reply is awaited. */
  get isWaiting(): boolean {
    return this.#open.size > 0;
  }

  /** @throws MeshError `agent` when `partner` cannot be asked now */
  check(partner: string): void {
    if (this.#lost.has(partner)) throw createGoneError(partner);
    if (this.#open.size >= AGENT_LIMITS.requests) {
      throw new MeshError('agent', `${AGENT_LIMITS.requests} requests already wait for replies`);
    }
  }

  /**
   * Waits for the reply to the packet `id`.
   *
   * @throws MeshError `agent` when none comes in time or before the task ends, or the partner is lost
   */
  async reply(
    id: string,
    partner: string,
    options: AskOptions & { readonly taskSignal: AbortSignal },
  ): Promise<Received> {
    const { promise, resolve } = Promise.withResolvers<Received | MeshError>();
    const { taskSignal, timeoutMs, signal } = options;
    this.#open.set(id, { partner, settle: resolve });
    const fail = (why: string) => resolve(new MeshError('agent', why));
    const unwatch = [
      onAbort(taskSignal, () => fail(`the task ended before ${partner} had replied`)),
      onAbort(signal, () => fail(`${partner} did not reply in the remaining time`)),
    ];
    const timer =
      timeoutMs === undefined
        ? undefined
        : setTimeout(() => fail(`${partner} did not reply within ${timeoutMs / 1000} s`), timeoutMs);
    try {
      const reply = await promise;
      if (reply instanceof MeshError) throw reply;
      return reply;
    } finally {
      clearTimeout(timer);
      for (const stop of unwatch) stop();
      this.#open.delete(id);
    }
  }

  /** Accepts a packet that may be a reply; returns false if no request waits for it. */
  settle(received: Received): boolean {
    const { reply_to, from } = received.packet;
    const request = reply_to === undefined ? undefined : this.#open.get(reply_to);
    if (request === undefined || request.partner !== from) return false;
    request.settle(received);
    return true;
  }

  /** Fails the requests to an agent that the hub reports as gone. */
  partnerLost(partner: string): void {
    this.#lost.add(partner);
    for (const request of this.#open.values())
      if (request.partner === partner) request.settle(createGoneError(partner));
  }

  partnerBack(partner: string): void {
    this.#lost.delete(partner);
  }
}

function createGoneError(partner: string): MeshError {
  return new MeshError('agent', `agent ${partner} is gone`);
}
