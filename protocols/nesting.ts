import { MAX_PAYLOAD_DEPTH } from '../core/limits.ts';
import { notAPacket } from './head.ts';

/** Items that are still to come in each open map (keys count too) and list. One walk at a time uses them. */
const itemsLeft = new Int32Array(MAX_PAYLOAD_DEPTH);
const isMapOpen = new Uint8Array(MAX_PAYLOAD_DEPTH);

/** Where a walk over nested values is, without recursion. A new walk ends the one before it. */
export class Nesting {
  #depth = 0;

  get isOpen(): boolean {
    return this.#depth > 0;
  }

  /** Whether what comes next is the key of a map. */
  isKeyNext(): boolean {
    const top = this.#depth - 1;
    return top >= 0 && isMapOpen[top] === 1 && (itemsLeft[top] ?? 0) % 2 === 0;
  }

  /**
   * A map or list of `items` begins; each key and each value of a map is one.
   *
   * @throws MeshError `packet` beyond the depth that a payload may have
   */
  enter(items: number, isMap: boolean): void {
    if (this.#depth === MAX_PAYLOAD_DEPTH) throw notAPacket(`nested deeper than ${MAX_PAYLOAD_DEPTH}`);
    if (items === 0) {
      this.step();
      return;
    }
    itemsLeft[this.#depth] = items;
    isMapOpen[this.#depth] = isMap ? 1 : 0;
    this.#depth += 1;
  }

  /** One item has ended; where it was the last one, what was open is itself an item that has ended. */
  step(): void {
    while (this.#depth > 0) {
      const left = (itemsLeft[this.#depth - 1] ?? 0) - 1;
      itemsLeft[this.#depth - 1] = left;
      if (left > 0) return;
      this.#depth -= 1;
    }
  }
}
