import type { ProtocolAdapter } from '../core/adapter.ts';
import { type MeshError, messageOf } from '../core/errors.ts';
import { PREFIX_BYTES } from '../core/frame.ts';
import { type Packet, type PacketHead, parsePacket } from '../core/packet.ts';
import { asciiText, type EnvelopeKey, HeadFields, notAPacket } from './head.ts';

/** Compact UTF-8 JSON of the packet, keys in the sender's order. */
export const json: ProtocolAdapter = {
  name: 'json',
  open: () => ({ encode, decode, headerSize, peek }),
};

// A byte order mark stays in the text, where JSON.parse refuses it.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function encode(packet: Packet): Uint8Array {
  return Buffer.from(JSON.stringify(packet));
}

function decode(blob: Uint8Array): Packet {
  const packet = parsePacket(parse(blob));
  // JSON.parse takes the last of two equal keys; only the bytes still show that there were two.
  peek(blob);
  return packet;
}

function headerSize(packet: Packet): number {
  return PREFIX_BYTES + Buffer.byteLength(JSON.stringify({ ...packet, payload: {} })) - '{}'.length;
}

/**
 * Reads the top level of the object and steps over what it does not need: brackets are counted, texts are skipped.
 * So faults inside a value that is stepped over (payload, `ts`, `reply_to`, `log_uri`: bad UTF-8, a misplaced comma, `}`
 * for `]`) and the syntax of node ids are left to `decode`. All else that `decode` refuses is refused here too.
 */
function peek(blob: Uint8Array): PacketHead {
  const head = new HeadFields();
  const scanner = new JsonScanner(blob);
  scanner.expect(OPEN_BRACE);
  do {
    const key = scanner.key(head);
    scanner.expect(COLON);
    readValue(scanner, key, head);
  } while (scanner.hasMore());
  scanner.end();
  return head.finish();
}

function readValue(scanner: JsonScanner, key: EnvelopeKey, head: HeadFields): void {
  switch (key) {
    case 'type':
    case 'from':
    case 'to':
    case 'id':
    case 'task_id':
    case 'tag':
      head.text(key, scanner.text());
      break;
    case 'token_used':
      head.tokens(scanner.number());
      break;
    case 'payload':
      scanner.skipObject();
      break;
    default:
      scanner.skipValue();
  }
}

const TAB = 0x09;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
/** What stands for the byte after the last: no byte. */
const END = -1;

/** Walks over one JSON text, byte by byte: never back, never deeper than one call. */
class JsonScanner {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(blob: Uint8Array) {
    this.#bytes = Buffer.isBuffer(blob) ? blob : Buffer.from(blob.buffer, blob.byteOffset, blob.length);
  }

  /** @throws MeshError `packet` when another byte comes next, white space aside */
  expect(byte: number): void {
    if (this.#next() !== byte) throw this.#unexpected(`'${String.fromCharCode(byte)}'`);
    this.#at += 1;
  }

  /** After a member of the object: true for another one, false for the object's end. */
  hasMore(): boolean {
    const byte = this.#next();
    if (byte !== COMMA && byte !== CLOSE_BRACE) throw this.#unexpected("',' or '}'");
    this.#at += 1;
    return byte === COMMA;
  }

  end(): void {
    if (this.#next() !== END) throw this.#unexpected('the end');
  }

  key(head: HeadFields): EnvelopeKey {
    this.expect(QUOTE);
    const start = this.#at;
    if (!this.#skipText()) return head.key(this.#bytes, start, this.#at - 1);
    const written = Buffer.from(this.#parsedText(start));
    return head.key(written, 0, written.length);
  }

  text(): string {
    this.expect(QUOTE);
    const start = this.#at;
    const hasEscape = this.#skipText();
    const plain = hasEscape ? undefined : asciiText(this.#bytes, start, this.#at - 1);
    return plain ?? this.#parsedText(start);
  }

  number(): unknown {
    const first = this.#next();
    const start = this.#at;
    this.#skipScalar();
    if (this.#at === start + 1 && first >= DIGIT_0 && first <= DIGIT_9) return first - DIGIT_0;
    return parse(this.#bytes.subarray(start, this.#at));
  }

  skipObject(): void {
    if (this.#next() !== OPEN_BRACE) throw this.#unexpected("'{'");
    this.skipValue();
  }

  skipValue(): void {
    const first = this.#next();
    if (first === QUOTE) {
      this.#at += 1;
      this.#skipText();
    } else if (first === OPEN_BRACE || first === OPEN_BRACKET) {
      this.#skipNested();
    } else {
      this.#skipScalar();
    }
  }

  /** The next byte that is no white space; it is not used up. */
  #next(): number {
    for (;;) {
      const byte = this.#bytes[this.#at] ?? END;
      if (byte > SPACE || !isWhiteSpace(byte)) return byte;
      this.#at += 1;
    }
  }

  /** From behind an opening quote to behind the closing one. True if a backslash came between. */
  #skipText(): boolean {
    const bytes = this.#bytes;
    let hasEscape = false;
    let at = this.#at;
    while (at < bytes.length) {
      const byte = bytes[at];
      at += 1;
      if (byte === QUOTE) {
        this.#at = at;
        return hasEscape;
      }
      if (byte === BACKSLASH) {
        hasEscape = true;
        at += 1;
      }
    }
    this.#at = bytes.length;
    throw this.#unexpected('the end of a text');
  }

  /** Over an object or an array with all that is in it. */
  #skipNested(): void {
    const bytes = this.#bytes;
    let depth = 0;
    while (this.#at < bytes.length) {
      const byte = bytes[this.#at];
      this.#at += 1;
      if (byte === QUOTE) {
        this.#skipText();
      } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        depth += 1;
      } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        depth -= 1;
        if (depth === 0) return;
      }
    }
    throw this.#unexpected('a closing bracket');
  }

  /** Over a number, `true`, `false` or `null`. */
  #skipScalar(): void {
    const bytes = this.#bytes;
    const start = this.#at;
    while (this.#at < bytes.length && !endsScalar(bytes[this.#at] ?? END)) this.#at += 1;
    if (this.#at === start) throw this.#unexpected('a value');
  }

  /** The text that ends here and began behind the quote before `start`, as JSON.parse reads it. */
  #parsedText(start: number): string {
    const text = parse(this.#bytes.subarray(start - 1, this.#at));
    if (typeof text !== 'string' || !text.isWellFormed()) throw notAPacket('a text with a lone surrogate');
    return text;
  }

  #unexpected(expected: string): MeshError {
    return notAPacket(`${expected} expected at byte ${this.#at}`);
  }
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch (error) {
    throw notAPacket(messageOf(error), error);
  }
}

function isWhiteSpace(byte: number): boolean {
  return byte === SPACE || byte === LINE_FEED || byte === CARRIAGE_RETURN || byte === TAB;
}

function endsScalar(byte: number): boolean {
  return byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET || isWhiteSpace(byte);
}
