import { arena } from '../core/arena.ts';
import { HEAD_LENGTHS } from '../core/packet.ts';
import { JSON_SCAN } from './json-scan.wasm.ts';

/** Where `json-scan.wat` wants the two texts of a head, and how long they may be there. */
const BEFORE_AT = 1024;
const BETWEEN_AT = 4096;
const MAX_TEXT_BYTES = 2048;

/** A head's text up to the id, and that between the id and the tokens; sixteen bytes each at least. */
export interface HeadTexts {
  readonly before: Buffer;
  readonly between: Buffer;
}

/** What `json-scan.wat` exports. */
interface Exports {
  readonly countAlike: (start: number, limit: number, maxLength: number) => number;
  readonly end: WebAssembly.Global;
  readonly tokens: WebAssembly.Global;
  readonly beforeLength: WebAssembly.Global;
  readonly betweenLength: WebAssembly.Global;
  readonly maxIdLength: WebAssembly.Global;
  readonly patternLength: WebAssembly.Global;
}

/** Counts packets of one head that lie in the arena, a whole run in one call; see `json-scan.wat`. */
class JsonScan {
  readonly #memory: Uint8Array;
  readonly #exports: Exports;
  #texts: HeadTexts | undefined;

  constructor() {
    const module = new WebAssembly.Module(Buffer.from(JSON_SCAN, 'base64'));
    const { exports } = new WebAssembly.Instance(module, { arena: { memory: arena.memory } });
    this.#memory = new Uint8Array(arena.memory.buffer);
    this.#exports = exports as unknown as Exports;
    this.#exports.maxIdLength.value = HEAD_LENGTHS.id;
  }

  /** Of all packets that the last call has counted. */
  get tokens(): number {
    return this.#exports.tokens.value;
  }

  /** Where the last packet that the last call has counted ends in the arena. */
  get end(): number {
    return this.#exports.end.value;
  }

  /** How many of the whole frames in `[start, limit)` of the arena are, from the first on, packets with these texts. */
  count(texts: HeadTexts, start: number, limit: number, maxLength: number): number {
    const { countAlike, beforeLength, betweenLength, patternLength } = this.#exports;
    if (texts !== this.#texts) {
      const { before, between } = texts;
      if (before.length > MAX_TEXT_BYTES || between.length > MAX_TEXT_BYTES) return 0;
      this.#memory.set(before, BEFORE_AT);
      this.#memory.set(between, BETWEEN_AT);
      beforeLength.value = before.length;
      betweenLength.value = between.length;
      patternLength.value = 0;
      this.#texts = texts;
    }
    return countAlike(start, limit, maxLength);
  }
}

let scan: JsonScan | undefined;

/** Made when it is first needed: most processes are no hub. */
export function jsonScan(): JsonScan {
  scan ??= new JsonScan();
  return scan;
}
