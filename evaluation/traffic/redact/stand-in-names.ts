import { Random } from '../../../core/system/random.ts';
import { countTwoByteEscapes } from './stand-in-text.ts';

const FIRST = 'abcdefghijklmnopqrstuvwxyz';
const REST = `${FIRST}0123456789`;
/** Draws before all names of a length count as taken. */
const ATTEMPTS = 400;

/** Gives names others of as many bytes: the same one for the same name, and two for two. */
export class StandInNames {
  readonly #random: Random;
  readonly #names = new Map<string, string>();
  readonly #taken: Set<string>;

  /** `kept`: names that stay as they are, which no stand-in may have. */
  constructor(seed: number, kept: Iterable<string> = []) {
    this.#random = new Random(seed);
    this.#taken = new Set(kept);
  }

  of(name: string): string {
    const known = this.#names.get(name);
    if (known !== undefined) return known;
    const escapes = countTwoByteEscapes(name);
    let length = Buffer.byteLength(name) - escapes;
    let drawn = name;
    for (let attempt = 0; this.#taken.has(drawn) || drawn === name; attempt++) {
      // A name more than there are of its length is longer.
      if (attempt > 0 && attempt % ATTEMPTS === 0) length += 1;
      drawn = this.#draw(length) + '\n'.repeat(escapes);
    }
    this.#names.set(name, drawn);
    this.#taken.add(drawn);
    return drawn;
  }

  #draw(length: number): string {
    let text = '';
    for (let at = 0; at < length; at++) {
      const letters = at === 0 ? FIRST : REST;
      text += letters[this.#random.integer(letters.length)] ?? '';
    }
    return text;
  }
}
