/** An event as it is sent. */
interface KeptEvent {
  readonly n: number;
  readonly text: string;
}

/** The last events of one sort. */
class Tail {
  readonly #most: number;
  #events: KeptEvent[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  add(event: KeptEvent): void {
    this.#events.push(event);
    // Now and then, so that it costs nothing at each.
    if (this.#events.length > 1.25 * this.#most) this.#events = this.#events.slice(-this.#most);
  }

  /** Events from `n` on, at most so many. */
  from(n: number, most: number): KeptEvent[] {
    let [low, high] = [0, this.#events.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#events[middle]?.n ?? 0) < n) low = middle + 1;
      else high = middle;
    }
    return this.#events.slice(low, low + most);
  }
}

/** Packets and totals: five minutes of 100 a second. What is older is in the archive. */
const MAX_FLOW = 30_000;
/** All else: more questions than a batch has. */
const MAX_OTHERS = 20_000;

/**
 * What a page that is opened late is told: the last packets, and the last of all else, of which packets push nothing out. Together some
 * 15 MB, whatever the run does.
 */
export class KeptEvents {
  readonly #flow = new Tail(MAX_FLOW);
  readonly #others = new Tail(MAX_OTHERS);

  add(n: number, text: string, isFlow: boolean): void {
    (isFlow ? this.#flow : this.#others).add({ n, text });
  }

  /** Events from number `n` on, in order, at most so many. */
  from(n: number, most: number): KeptEvent[] {
    const both = [...this.#flow.from(n, most), ...this.#others.from(n, most)];
    return both.sort((a, b) => a.n - b.n).slice(0, most);
  }
}
