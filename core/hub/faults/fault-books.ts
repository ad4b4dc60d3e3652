/** Packets and their bytes, whole frames. */
export interface Volume {
  packets: number;
  bytes: number;
}

/**
 * What became of the deliveries to an agent. Each that the relay offers is exactly one of delivered, dropped, partitioned and
 * undeliverable; a duplicate is written beside the delivered one:
 *
 *     offered = delivered + dropped + partitioned + undeliverable        written = delivered + duplicated
 *
 * `delayed`, `early` (too many bytes were waiting, so it was not delayed as long as it should have been) and `corrupted` say
 * something about deliveries that are counted above.
 */
export type DeliveryBook = Record<
  | 'offered'
  | 'delivered'
  | 'duplicated'
  | 'dropped'
  | 'partitioned'
  | 'undeliverable'
  | 'delayed'
  | 'early'
  | 'corrupted',
  Volume
>;
export type Fate = keyof DeliveryBook;

/** What can cost a task its answer. */
const HARMS: readonly Fate[] = ['dropped', 'partitioned', 'undeliverable', 'corrupted'];

function emptyBook(): DeliveryBook {
  const none = (): Volume => ({ packets: 0, bytes: 0 });
  return {
    offered: none(),
    delivered: none(),
    duplicated: none(),
    dropped: none(),
    partitioned: none(),
    undeliverable: none(),
    delayed: none(),
    early: none(),
    corrupted: none(),
  };
}

/** The books of all deliveries of a run with faults. */
export class FaultBooks {
  readonly total: DeliveryBook = emptyBook();
  readonly #byAgent = new Map<string, DeliveryBook>();
  /** Deliveries of a task that were lost or corrupted; forgotten when it has ended. */
  readonly #harmedByTask = new Map<string, number>();

  note(fate: Fate, agent: string, bytes: number, taskId?: string): void {
    for (const book of [this.total, this.of(agent)]) {
      book[fate].packets += 1;
      book[fate].bytes += bytes;
    }
    if (taskId === undefined || !HARMS.includes(fate)) return;
    this.#harmedByTask.set(taskId, (this.#harmedByTask.get(taskId) ?? 0) + 1);
  }

  of(agent: string): DeliveryBook {
    let book = this.#byAgent.get(agent);
    if (book === undefined) {
      book = emptyBook();
      this.#byAgent.set(agent, book);
    }
    return book;
  }

  /** Deliveries of a task that were lost or corrupted. Asked once, at its end. */
  takeHarmedOf(taskId: string): number {
    const harmed = this.#harmedByTask.get(taskId) ?? 0;
    this.#harmedByTask.delete(taskId);
    return harmed;
  }
}
