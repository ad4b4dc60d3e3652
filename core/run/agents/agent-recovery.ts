import { toErrorMessage } from '../../contracts/errors.ts';
import { MAX_RESTARTS, RESTART_BACKOFF_MS } from '../../contracts/limits.ts';
import type { MeshNode } from '../../hub/link.ts';
import { raceAbort } from '../../system/process/abort.ts';

/**
 * One loss of an agent. Times are milliseconds from the start of the first task; null if it did not come
 * back.
 */
interface Recovery {
  readonly agent: string;
  readonly tool: string;
  readonly lost_at_ms: number;
  back_at_ms: number | null;
  took_ms: number | null;
  /** Number of starts that the return took, including failed ones. */
  attempts: number;
}

interface RecoveryOptions {
  /** Restarts a lost agent and returns its address. */
  readonly restart: (id: string) => Promise<MeshNode>;
  /** Takes it back into the network. */
  readonly readmit: (node: MeshNode, signal: AbortSignal) => Promise<void>;
  /** Called when an agent has no tries left. */
  readonly onGivenUp: (id: string) => void;
  /** Receives messages for people. */
  readonly onEvent: (news: string) => void;
  /** Returns the milliseconds since the start of the first task. */
  readonly nowMs: () => number;
  readonly signal: AbortSignal;
}

/** Restarts lost agents, each at most {@link MAX_RESTARTS} times and with a growing delay. */
export class AgentRecovery {
  readonly recoveries: Recovery[] = [];
  readonly #options: RecoveryOptions;
  readonly #attempts = new Map<string, number>();
  readonly #returning = new Map<string, Promise<void>>();
  readonly #ending = new AbortController();
  readonly #signal: AbortSignal;

  constructor(options: RecoveryOptions) {
    this.#options = options;
    this.#signal = AbortSignal.any([options.signal, this.#ending.signal]);
  }

  /** Handles the loss of an agent. Further reports of the same loss change nothing. */
  lost(id: string, tool: string): void {
    if (this.#signal.aborted || this.#returning.has(id) || this.#isGivenUp(id)) return;
    const lostAtMs = Math.round(this.#options.nowMs());
    const recovery = { agent: id, tool, lost_at_ms: lostAtMs, back_at_ms: null, took_ms: null, attempts: 0 };
    this.recoveries.push(recovery);
    this.#returning.set(id, this.#bringBack(recovery));
  }

  isReturning(id: string): boolean {
    return this.#returning.has(id);
  }

  /** Settles when no agent is being restarted. */
  async settled(): Promise<void> {
    while (this.#returning.size > 0) await Promise.all(this.#returning.values());
  }

  /** Stops restarting agents. */
  async end(): Promise<void> {
    this.#ending.abort();
    await this.settled();
  }

  #isGivenUp(id: string): boolean {
    return (this.#attempts.get(id) ?? 0) >= MAX_RESTARTS;
  }

  async #bringBack(recovery: Recovery): Promise<void> {
    const { agent: id, tool } = recovery;
    const { nowMs, onEvent: onNews, onGivenUp } = this.#options;
    let isBack = false;
    while (!isBack && !this.#signal.aborted && !this.#isGivenUp(id)) {
      const attempt = (this.#attempts.get(id) ?? 0) + 1;
      this.#attempts.set(id, attempt);
      recovery.attempts += 1;
      isBack = await this.#tryOnce(recovery, attempt);
    }
    this.#returning.delete(id);
    if (isBack) {
      recovery.back_at_ms = Math.round(nowMs());
      recovery.took_ms = recovery.back_at_ms - recovery.lost_at_ms;
      onNews(`agent ${id} (${tool}) is back after ${(recovery.took_ms / 1000).toFixed(2)} s`);
      if (this.#isGivenUp(id)) onNews(`agent ${id} (${tool}): if it is lost again, it will not be restarted`);
    } else if (!this.#signal.aborted) {
      onNews(`agent ${id} (${tool}) is not restarted again: the maximum is ${MAX_RESTARTS} restarts`);
      onGivenUp(id);
    }
  }

  async #tryOnce({ agent: id, tool }: Recovery, attempt: number): Promise<boolean> {
    const { restart, readmit, onEvent: onNews } = this.#options;
    try {
      await this.#pause(RESTART_BACKOFF_MS * 2 ** (attempt - 1));
      // The end of the run need not wait for the restart: the process is ended with the others.
      const node = await raceAbort(this.#signal, restart(id));
      await readmit(node, this.#signal);
      return true;
    } catch (error) {
      if (!this.#signal.aborted) {
        onNews(
          `agent ${id} (${tool}): restart ${attempt} of ${MAX_RESTARTS} failed: ${toErrorMessage(error)}`,
        );
      }
      return false;
    }
  }

  async #pause(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    try {
      await raceAbort(this.#signal, promise);
    } finally {
      clearTimeout(timer);
    }
  }
}
