import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';

interface TurnLimits {
  /** Maximum tasks that run at the same time. */
  readonly tasks: number;
  /** Maximum tasks that wait; further ones are refused. */
  readonly waiting: number;
}

/** Turns of tasks: a limited number runs, and a limited number waits in the order of arrival. */
export class Turns {
  readonly #limits: TurnLimits;
  readonly #waiting = new Set<() => void>();
  #running = 0;
  #idle: (() => void)[] = [];

  constructor(limits: TurnLimits) {
    this.#limits = limits;
  }

  /**
   * Waits for a turn.
   *
   * @param signal ends the wait when it aborts
   * @returns a function that ends the turn
   * @throws MeshError `limit` if too many wait already, `interrupted` if `signal` ended the wait
   */
  async take(signal: AbortSignal): Promise<() => void> {
    const { tasks, waiting } = this.#limits;
    signal.throwIfAborted();
    if (this.#running < tasks) this.#running += 1;
    else if (this.#waiting.size < waiting) await this.#wait(signal);
    else
      throw new MeshError(
        'limit',
        `the team is busy: ${tasks} tasks are running and ${waiting} are waiting, which is its limit; try again later`,
      );
    return () => this.#end();
  }

  /** Resolves when no task is running. */
  async settled(): Promise<void> {
    if (this.#running > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  /** Hands the turn to the task that has waited longest. */
  #end(): void {
    const [next] = this.#waiting;
    if (next !== undefined) {
      this.#waiting.delete(next);
      next();
      return;
    }
    this.#running -= 1;
    if (this.#running === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }

  #wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const go = () => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = () => {
        this.#waiting.delete(go);
        reject(new MeshError('interrupted', 'cancelled while it waited for its turn'));
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.add(go);
    });
  }
}
