import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';

interface TurnLimits {
  /** Turns at once. */
  readonly tasks: number;
  /** Waiting ones; more are refused. */
  readonly waiting: number;
}

/** Turns of tasks: so many run, so many more wait in the order in which they came. */
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
   * @param signal gives up the place among the waiting
   * @returns a function that ends the turn
   * @throws MeshError `limit` if too many wait already, `interrupted` if the place was given up
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

  /** Hands the turn to the one that has waited longest. */
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
