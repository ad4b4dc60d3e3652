import { toWatchEvents } from './events.js';
import { advance, noState } from './state.js';

/**
 * @typedef {import('./state.js').WatchEvent} WatchEvent
 * @typedef {import('./state.js').WatchState} WatchState
 */

/** Events that a page keeps; of older ones it keeps what they came to. */
const MAX_EVENTS = 60_000;
const DROPPED_AT_ONCE = 10_000;

/** All that has been told, and what was known at any moment of it. */
export class WatchHistory {
  /** @type {WatchEvent[]} */
  events = [];
  /** Sums of the events that are no longer kept. */
  #before = noState();
  /** The state now. */
  now = noState();
  #last = 0;
  /** @type {number | undefined} */
  #startMs;
  /** Events that never came: the page was too slow, or came late. */
  missed = 0;

  /** @param {readonly import('./events.js').RunEvent[]} events */
  add(events) {
    for (const event of events) {
      const { n = 0 } = event;
      if (n <= this.#last) continue;
      this.missed += n - this.#last - 1;
      this.#last = n;
      this.#startMs ??= event.time;
      for (const part of toWatchEvents(event, this.#startMs)) {
        this.events.push(part);
        advance(this.now, part);
      }
    }
    if (this.events.length <= MAX_EVENTS) return;
    for (const event of this.events.splice(0, DROPPED_AT_ONCE)) advance(this.#before, event);
  }

  /**
   * The state at a moment, from events that are kept.
   *
   * @param {number} at
   */
  stateAt(at) {
    const state = structuredClone(this.#before);
    for (const event of this.events) {
      if (event.at > at) break;
      advance(state, event);
    }
    return state;
  }

  /**
   * Returns the number of events up to a moment.
   *
   * @param {number} at
   * /
   */
  countUpTo(at) {
    let [low, high] = [0, this.events.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.events[middle]?.at ?? 0) <= at) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  get beganMs() {
    return this.#before.at;
  }

  get lastMs() {
    return this.now.at;
  }
}
