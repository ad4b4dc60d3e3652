import { FINAL_ANSWER, type PacketHead, TASK_FAILED } from '../../contracts/packet.ts';
import { raceAbort } from '../../system/process/abort.ts';
import type { Recording } from '../recording.ts';

/** What of a recording has come while it is played: each pass expects every packet that had a cause, once. */
export class Arrivals {
  /** What should not have happened, in the order in which it did. */
  readonly faults: string[] = [];
  readonly #ids: readonly string[];
  /** Packets of each task, and whether one of them ended it. */
  readonly #due: ReadonlyMap<string, { readonly packets: number; readonly isEnded: boolean }>;
  #expected = new Set<string>();
  #isWhole: () => void = () => undefined;

  constructor({ header, packets }: Recording) {
    const caused = packets.filter(({ cause }) => cause !== null).map(({ packet }) => packet);
    const isEnd = (tag: string | undefined) => tag === FINAL_ANSWER || tag === TASK_FAILED;
    this.#ids = caused.map(({ id }) => id);
    this.#due = new Map(
      [...Map.groupBy(caused, ({ task_id }) => task_id)].map(([taskId, due]) => [
        taskId,
        { packets: due.length, isEnded: header.final !== null && due.some(({ tag }) => isEnd(tag)) },
      ]),
    );
  }

  /** Begins a pass. */
  expectAll(): void {
    this.#expected = new Set(this.#ids);
  }

  /** A task that had no end then, as of an agent that was lost, is over when all of it has come. */
  endOf(taskId: string): { readonly endsAfter?: number } {
    const { packets, isEnded } = this.#due.get(taskId) ?? { packets: 0, isEnded: false };
    return isEnded ? {} : { endsAfter: packets };
  }

  came({ id, type }: Pick<PacketHead, 'id' | 'type'>): void {
    if (!this.#expected.delete(id))
      this.faults.push(`packet ${id} (${type}) came, which is not in the recording`);
    if (this.#expected.size === 0) this.#isWhole();
  }

  /** Waits for what is still missing of the pass, as behind a final answer; what has not come when `signal` aborts is a fault. */
  async whole(signal: AbortSignal): Promise<void> {
    if (this.#expected.size === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#isWhole = resolve;
    try {
      await raceAbort(signal, promise);
    } catch {
      const [missing] = this.#expected;
      this.faults.push(`packet ${missing} of the recording never came`);
    }
  }
}
