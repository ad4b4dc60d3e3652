/**
 * A seeded stream of random numbers: xoshiro128** (D. Blackman and S. Vigna, 2021, "Scrambled linear
 * pseudorandom number generators", ACM TOMS 47:4). SplitMix64 fills its state, as its authors advise, so that
 * seeds 1 and 2 share nothing. The same seed gives the same numbers on every machine. It is not suitable for
 * keys.
 */
export class Random {
  // Signed, because V8 keeps such numbers unboxed: a bootstrap of 30 rounds draws 60,000.
  #a: number;
  #b: number;
  #c: number;
  #d: number;

  /** `seed` is any safe integer. */
  constructor(seed: number) {
    if (!Number.isSafeInteger(seed)) throw new RangeError(`expected a whole number as seed, got ${seed}`);
    const [low, high] = splitMix64(BigInt(seed));
    this.#a = Number(BigInt.asIntN(32, low));
    this.#b = Number(BigInt.asIntN(32, low >> 32n));
    this.#c = Number(BigInt.asIntN(32, high));
    this.#d = Number(BigInt.asIntN(32, high >> 32n));
  }

  /** Returns 32 random bits, 0 to 2^32 − 1. */
  bits(): number {
    const result = Math.imul(rotate(Math.imul(this.#b, 5), 7), 9) >>> 0;
    const shifted = this.#b << 9;
    this.#c ^= this.#a;
    this.#d ^= this.#b;
    this.#b ^= this.#c;
    this.#a ^= this.#d;
    this.#c ^= shifted;
    this.#d = rotate(this.#d, 11);
    return result;
  }

  /** Returns a number in [0, 1) with 53 random bits. */
  uniform(): number {
    return ((this.bits() >>> 5) * 2 ** 26 + (this.bits() >>> 6)) / 2 ** 53;
  }

  /**
   * Returns a whole number in [0, n), each equally likely: values in the incomplete last block of the 2^32
   * are drawn again.
   */
  integer(n: number): number {
    if (!(Number.isInteger(n) && n >= 1 && n <= 2 ** 32)) {
      throw new RangeError(`expected n from 1 to 2^32, got ${n}`);
    }
    let bits = this.bits();
    let remainder = bits % n;
    while (bits - remainder + n > 2 ** 32) {
      bits = this.bits();
      remainder = bits % n;
    }
    return remainder;
  }

  /**
   * Returns a copy in random order, each order equally likely (Fisher and Yates, 1938). Quadratic: meant for
   * arms, not for samples.
   */
  shuffle<T>(items: readonly T[]): T[] {
    const left = [...items];
    const shuffled: T[] = [];
    while (left.length > 0) shuffled.push(...left.splice(this.integer(left.length), 1));
    return shuffled;
  }
}

function rotate(word: number, by: number): number {
  return (word << by) | (word >>> (32 - by));
}

/**
 * Returns two outputs of SplitMix64 (G. Steele, D. Lea and C. Flood, 2014, "Fast splittable pseudorandom
 * number generators").
 */
function splitMix64(seed: bigint): [bigint, bigint] {
  const output = (step: bigint) => {
    let z = BigInt.asUintN(64, seed + step * 0x9e3779b97f4a7c15n);
    z = BigInt.asUintN(64, (z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
    z = BigInt.asUintN(64, (z ^ (z >> 27n)) * 0x94d049bb133111ebn);
    return z ^ (z >> 31n);
  };
  return [output(1n), output(2n)];
}
