const SPACE = 0x20;
const COMMA = 0x2c;
const CLOSE_BRACKET = 0x5d;
const CLOSE_BRACE = 0x7d;

/**
 * The value that a JSON text holds, as `JSON.parse` should read it.
 *
 * Since V8 13 (Node 24, and 26 still), `JSON.parse` compares the letters of a key as they are written, escapes and all, with keys that it has seen
 * at the same place before: behind `{"h":[],"\\":0}` it reads `{"h":1,"\n":2}` as `{"h":1,"\\":2}`
 * (https://github.com/nodejs/node/issues/63785). What it takes for the key then begins as the key is written, up to its first
 * escape, so a wrong key always holds a backslash. Values with such keys are rare, and are read anew without it; all others cost a
 * look at their keys, and only where the text has a backslash at all.
 *
 * @throws SyntaxError for what is no JSON
 */
export function parseJsonText(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (!text.includes('\\') || !hasBackslashKey(value)) return value;
  return new ValidText(text).value(0);
}

function hasBackslashKey(value: unknown): boolean {
  // Not by recursion: JSON.parse takes what is nested deeper than the stack is.
  const open = [value];
  for (let at = open.pop(); typeof at === 'object' && at !== null; at = open.pop()) {
    if (!Array.isArray(at) && Object.keys(at).some((key) => key.includes('\\'))) return true;
    const inside: unknown[] = Array.isArray(at) ? at : Object.values(at);
    for (const inner of inside) if (typeof inner === 'object' && inner !== null) open.push(inner);
  }
  return false;
}

/** Deeper than anything that is read here may be; each level takes some of the stack. */
const MAX_DEPTH = 1000;

/** Reads a text that `JSON.parse` has found to be JSON, so that nothing but its structure needs to be looked at. */
class ValidText {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(depth: number): unknown {
    if (depth > MAX_DEPTH) throw new SyntaxError(`nested deeper than ${MAX_DEPTH}`);
    switch (this.#next()) {
      case '{':
        return Object.fromEntries(this.#items('}', () => this.#member(depth)));
      case '[':
        return this.#items(']', () => this.value(depth + 1));
      case '"':
        return this.#string();
      default:
        return this.#scalar();
    }
  }

  #member(depth: number): [key: string, value: unknown] {
    this.#next();
    const key = this.#string();
    this.#next();
    this.#at += 1; // The colon.
    return [key, this.value(depth + 1)];
  }

  /** What is between the bracket that is next and `end`. */
  #items<T>(end: string, read: () => T): T[] {
    this.#at += 1;
    const items: T[] = [];
    while (this.#next() !== end) {
      items.push(read());
      if (this.#next() === ',') this.#at += 1;
    }
    this.#at += 1;
    return items;
  }

  /** A text that stands alone has no key, and is read as it should be. */
  #string(): string {
    const start = this.#at;
    let end = start + 1;
    for (;;) {
      end = this.#text.indexOf('"', end);
      let backslashes = 0;
      while (this.#text[end - backslashes - 1] === '\\') backslashes += 1;
      end += 1;
      if (backslashes % 2 === 0) break;
    }
    this.#at = end;
    return JSON.parse(this.#text.slice(start, end));
  }

  #scalar(): unknown {
    const start = this.#at;
    while (!isScalarEnd(this.#text.charCodeAt(this.#at))) this.#at += 1;
    const scalar = this.#text.slice(start, this.#at);
    return scalar === 'true' || scalar === 'false' || scalar === 'null' ? JSON.parse(scalar) : Number(scalar);
  }

  /** The next character that is no white space; it is not used up. */
  #next(): string {
    while (this.#text.charCodeAt(this.#at) <= SPACE) this.#at += 1;
    return this.#text.charAt(this.#at);
  }
}

/** Whether a number or a word has ended; behind the text there is no code, but NaN. */
function isScalarEnd(code: number): boolean {
  return !(code > SPACE) || code === COMMA || code === CLOSE_BRACKET || code === CLOSE_BRACE;
}
