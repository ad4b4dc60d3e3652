import type { Engine, EngineWork, ModelExchange, ModelUsage } from '../contracts/engine.ts';
import type { Packet } from '../contracts/packet.ts';
import type { Warning } from '../contracts/warning.ts';
import { readMonotonicUs } from '../system/clock.ts';
import type { Received } from './requests.ts';

/** Effort spent between one packet of a work and the next. `engineUs` is the engine's part of `toolUs`. */
export interface Spent {
  readonly tokens: number;
  readonly toolUs: number;
  readonly engineUs: number;
}

/**
 * The work for one packet, from its arrival to the last packet that results from it. A tool that asks others
 * sends packets on the way; each is charged with the effort since the packet before it, so that nothing is
 * counted twice (MP-52).
 */
export class Work {
  readonly engine: Engine;
  /** Aborted when the task ends without this work, or the session ends. */
  readonly signal: AbortSignal;
  /** The packet that began it. */
  readonly begins: Packet;
  readonly #stop = new AbortController();
  #cause: Received;
  #tokens = 0;
  #engineUs = 0;
  #sinceUs = readMonotonicUs();

  /**
   * `hears` receives every reply of a model, however the tool asks for it; `role` is set if the tool names
   * one.
   */
  constructor(
    begins: Received,
    engine: Engine,
    sessionSignal: AbortSignal,
    hears: {
      readonly usage: (usage: ModelUsage, role: string | undefined) => void;
      readonly exchange: (exchange: ModelExchange, role: string | undefined) => void;
      readonly warning: (warning: Warning) => void;
    },
  ) {
    this.#cause = begins;
    this.begins = begins.packet;
    this.signal = AbortSignal.any([sessionSignal, this.#stop.signal]);
    const timed = async <Result>(run: () => Promise<Result>): Promise<Result> => {
      const beginUs = readMonotonicUs();
      try {
        return await run();
      } finally {
        this.#engineUs += readMonotonicUs() - beginUs;
      }
    };
    const heard = (work: EngineWork): EngineWork => ({
      ...work,
      taskId: begins.packet.task_id,
      countUsage(usage) {
        hears.usage(usage, work.role);
        work.countUsage?.(usage);
      },
      onExchange(exchange) {
        hears.exchange(exchange, work.role);
        work.onExchange?.(exchange);
      },
      onWarning(warning) {
        hears.warning(warning);
        work.onWarning?.(warning);
      },
    });
    const { chat } = engine;
    this.engine = {
      ...engine,
      perform: (step, work) => timed(() => engine.perform(step, heard(work))),
      chat: chat && ((request, work) => timed(() => chat(request, heard(work)))),
    };
  }

  /**
   * The packet that causes the next one sent: the packet that began the work, or the last reply to one of its
   * requests.
   */
  get cause(): Received {
    return this.#cause;
  }

  countTokens(count: number): void {
    this.#tokens += count;
  }

  /** Continues after a reply; the time spent waiting for it is not counted as work. */
  goesOn(reply: Received): void {
    this.#cause = reply;
    this.#sinceUs = readMonotonicUs();
  }

  /** Returns the effort spent since the last call. */
  spent(): Spent {
    const nowUs = readMonotonicUs();
    const spent = { tokens: this.#tokens, toolUs: nowUs - this.#sinceUs, engineUs: this.#engineUs };
    this.#tokens = 0;
    this.#engineUs = 0;
    this.#sinceUs = nowUs;
    return spent;
  }

  stop(): void {
    this.#stop.abort();
  }
}
