import ranks from 'gpt-tokenizer/bpeRanks/o200k_base';
import { O200K_TOKEN_SPLIT_REGEX } from 'gpt-tokenizer/encodingParams/constants';

/** Tokens of a vocabulary by rank: texts, or bytes where they are no text; unused ranks are holes. */
type Ranks = readonly (string | readonly number[])[];

/** A piece of a text that ends with a token, and the tokens since the last piece. */
interface Piece {
  readonly text: string;
  readonly tokens: number;
}

/** Pieces up to this many bytes are merged by search: that is faster than a heap. */
const SHORT_BYTES = 64;
/**
 * Maximum bytes that are merged together. Longer words, which no model reads, are counted in parts, at most two
 * tokens for each part too many: that keeps the heap in the processor's cache.
 */
const MAX_MERGED_BYTES = 128 * 1024;
/** Maximum words whose tokens are remembered: they come again and again. */
const MAX_KEPT_WORDS = 50_000;
const NONE = Number.POSITIVE_INFINITY;
/** Positions of a merge are below this; a rank times it is still exact. */
const POSITIONS = 2 ** 20;

/**
 * The byte-pair encoding of a text by a published vocabulary, as OpenAI's models read it. It counts exactly
 * what `gpt-tokenizer` counts, but its time grows with n log n: that package searches all pairs of a piece for
 * every merge, so that a repetitive text of 3 MB took it half an hour.
 */
class Vocabulary {
  readonly #split: RegExp;
  /** Ranks by the bytes of a token, one character a byte. */
  readonly #ranks = new Map<string, number>();
  readonly #kept = new Map<string, readonly number[]>();
  #longestToken = 0;

  constructor(ranks: Ranks, split: RegExp) {
    this.#split = split;
    // Unlike a loop, this skips the holes.
    ranks.forEach((token, rank) => {
      const bytes = toByteText(typeof token === 'string' ? token : Buffer.from(token));
      this.#ranks.set(bytes, rank);
      this.#longestToken = Math.max(this.#longestToken, bytes.length);
    });
  }

  count(text: string): number {
    let tokens = 0;
    for (const [word] of text.matchAll(this.#split)) tokens += this.#tokenEnds(word).length;
    return tokens;
  }

  /** Splits a text into tokens; a token that ends within a character is joined with the one that ends it. */
  *pieces(text: string): Generator<Piece> {
    for (const [word] of text.matchAll(this.#split)) yield* splitWord(word, this.#tokenEnds(word));
  }

  /** Returns where the tokens of a word end, in bytes. */
  #tokenEnds(word: string): readonly number[] {
    const bytes = toByteText(word);
    if (this.#ranks.has(bytes)) return [bytes.length];
    if (bytes.length > SHORT_BYTES) {
      const ends: number[] = [];
      for (let begin = 0; begin < bytes.length; begin += MAX_MERGED_BYTES) {
        const part = bytes.slice(begin, begin + MAX_MERGED_BYTES);
        for (const end of this.#mergeLong(part)) ends.push(begin + end);
      }
      return ends;
    }
    const kept = this.#kept.get(bytes);
    if (kept !== undefined) return kept;
    const ends = this.#mergeShort(bytes);
    if (this.#kept.size === MAX_KEPT_WORDS) this.#kept.clear();
    this.#kept.set(bytes, ends);
    return ends;
  }

  /** Merges the pair of lowest rank, the first of several, until no pair is a token. */
  #mergeShort(bytes: string): number[] {
    const ends = Array.from(bytes, (_byte, index) => index + 1);
    const rankAt = (index: number) => this.#rankOf(bytes, ends[index - 1] ?? 0, ends[index + 1]);
    const ranks = ends.map((_end, index) => rankAt(index));
    for (;;) {
      let best = 0;
      for (let index = 1; index < ranks.length; index++)
        if ((ranks[index] ?? NONE) < (ranks[best] ?? NONE)) best = index;
      if ((ranks[best] ?? NONE) === NONE) return ends;
      ends.splice(best, 1);
      ranks.splice(best, 1);
      ranks[best] = rankAt(best);
      if (best > 0) ranks[best - 1] = rankAt(best - 1);
    }
  }

  /** Does the same with a heap of pairs, by rank and position, over a linked list of parts. */
  #mergeLong(bytes: string): number[] {
    const { length } = bytes;
    // The part that begins at a byte ends where the next one begins.
    const next = Int32Array.from({ length: length + 1 }, (_, index) => index + 1);
    const before = Int32Array.from({ length: length + 1 }, (_, index) => index - 1);
    const ranks = new Float64Array(length + 1).fill(NONE);
    const heap = new PairHeap();
    const look = (at: number) => {
      const second = next[at] ?? length;
      const rank = second < length ? this.#rankOf(bytes, at, next[second]) : NONE;
      ranks[at] = rank;
      if (rank !== NONE) heap.push(rank * POSITIONS + at);
    };
    for (let at = 0; at < length - 1; at++) look(at);
    for (let pair = heap.pop(); pair !== undefined; pair = heap.pop()) {
      const at = pair % POSITIONS;
      // The pair is gone: one of its parts was merged with another.
      if (ranks[at] !== (pair - at) / POSITIONS) continue;
      const second = next[at] ?? length;
      const third = next[second] ?? length;
      ranks[second] = NONE;
      next[at] = third;
      before[third] = at;
      look(at);
      const previous = before[at] ?? -1;
      if (previous >= 0) look(previous);
    }
    const ends: number[] = [];
    for (let at = 0; at < length; at = next[at] ?? length) ends.push(next[at] ?? length);
    return ends;
  }

  /** Returns the rank of the bytes from `begin` to `end`; infinite if they are no token. */
  #rankOf(bytes: string, begin: number, end: number | undefined): number {
    if (end === undefined || end - begin > this.#longestToken) return NONE;
    return this.#ranks.get(bytes.slice(begin, end)) ?? NONE;
  }
}

/** A heap of numbers whose lowest comes first. */
class PairHeap {
  readonly #items: number[] = [];

  push(item: number): void {
    const items = this.#items;
    let at = items.length;
    items.push(item);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const other = items[parent] ?? NONE;
      if (other <= item) break;
      items[at] = other;
      at = parent;
    }
    items[at] = item;
  }

  pop(): number | undefined {
    const items = this.#items;
    const [first] = items;
    const last = items.pop();
    if (last === undefined || items.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && (items[child + 1] ?? NONE) < (items[child] ?? NONE)) child += 1;
      const other = items[child] ?? NONE;
      if (other >= last) break;
      items[at] = other;
      at = child;
    }
    items[at] = last;
    return first;
  }
}

/** Returns the UTF-8 bytes of a text, one character a byte. */
function toByteText(text: string | Buffer): string {
  return (typeof text === 'string' ? Buffer.from(text, 'utf8') : text).toString('latin1');
}

/** Splits a word at its tokens' ends, which are in bytes, into pieces of whole characters. */
function* splitWord(word: string, ends: readonly number[]): Generator<Piece> {
  let begin = 0;
  let at = 0;
  let bytes = 0;
  let tokens = 0;
  for (const end of ends) {
    tokens += 1;
    while (at < word.length) {
      const code = word.codePointAt(at) ?? 0;
      const width = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
      if (bytes + width > end) break;
      bytes += width;
      at += code < 0x10000 ? 1 : 2;
    }
    if (at === begin) continue;
    yield { text: word.slice(begin, at), tokens };
    begin = at;
    tokens = 0;
  }
}

/**
 * Encoding of GPT-4o and later, including gpt-oss. The published package holds this module with the one table
 * that it needs.
 */
export const o200k: Vocabulary = new Vocabulary(ranks, O200K_TOKEN_SPLIT_REGEX);
