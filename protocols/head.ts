import { MeshError } from '../core/errors.ts';
import { HEAD_LENGTHS, type Packet, type PacketHead, shortReason } from '../core/packet.ts';

/**
 * What the `peek` of every adapter shares: which keys an envelope has, what they may hold, and how to read their short
 * texts without making a string each time.
 */

/** The keys of a packet. */
export const envelopeKeys = [
  'type',
  'from',
  'to',
  'id',
  'reply_to',
  'task_id',
  'tag',
  'token_used',
  'log_uri',
  'ts',
  'payload',
] as const satisfies readonly (keyof Packet)[];

export type EnvelopeKey = (typeof envelopeKeys)[number];
/** Keys of the head that hold text. */
export type HeadText = keyof typeof HEAD_LENGTHS;

/** Those that a packet may do without. */
export const optionalKeys = ['to', 'reply_to', 'tag', 'log_uri'] as const satisfies readonly EnvelopeKey[];

interface KnownKey {
  readonly key: EnvelopeKey;
  readonly bit: number;
  readonly bytes: Uint8Array;
}

const knownKeys: readonly KnownKey[] = envelopeKeys.map((key, index) => ({
  key,
  bit: 1 << index,
  bytes: Buffer.from(key),
}));
const keysByName = new Map(knownKeys.map((known) => [known.key, known]));
const keysByLength: readonly (readonly KnownKey[])[] = Array.from({ length: 11 }, (_, length) =>
  knownKeys.filter((known) => known.key.length === length),
);
const requiredKeys = knownKeys.filter(({ key }) => !optionalKeys.some((optional) => optional === key));

/** The head of one packet while its bytes are scanned. */
export class HeadFields {
  #seen = 0;
  #type = '';
  #from = '';
  #to: string | undefined;
  #id = '';
  #taskId = '';
  #tag: string | undefined;
  #tokens = 0;

  /**
   * The envelope key whose bytes are `bytes[start .. end)`.
   *
   * @throws MeshError `packet` for a key that no packet has, and for one that comes again
   */
  key(bytes: Uint8Array, start: number, end: number): EnvelopeKey {
    for (const known of keysByLength[end - start] ?? []) {
      if (isAt(known.bytes, bytes, start)) return this.#see(known);
    }
    throw notAPacket('a key that no packet has');
  }

  /**
   * The same for formats that write numbers in place of keys.
   *
   * @throws MeshError `packet` for a key that comes again
   */
  named(key: EnvelopeKey): EnvelopeKey {
    const known = keysByName.get(key);
    if (known === undefined) throw notAPacket('a key that no packet has');
    return this.#see(known);
  }

  /** @throws MeshError `packet` for a text that is empty or too long */
  text(key: HeadText, value: string): void {
    if (value.length === 0) throw notAPacket(`${key} is empty`);
    if (value.length > HEAD_LENGTHS[key]) throw notAPacket(`${key} is longer than ${HEAD_LENGTHS[key]}`);
    switch (key) {
      case 'type':
        this.#type = value;
        break;
      case 'from':
        this.#from = value;
        break;
      case 'to':
        this.#to = value;
        break;
      case 'id':
        this.#id = value;
        break;
      case 'task_id':
        this.#taskId = value;
        break;
      case 'tag':
        this.#tag = value;
        break;
    }
  }

  /** @throws MeshError `packet` for anything but a whole number that is not below 0 */
  tokens(value: unknown): void {
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
      throw notAPacket('token_used is no whole number from 0 up');
    }
    this.#tokens = value;
  }

  /** @throws MeshError `packet` when a key is missing */
  finish(): PacketHead {
    for (const { key, bit } of requiredKeys) if ((this.#seen & bit) === 0) throw notAPacket(`no ${key}`);
    const head: { -readonly [K in keyof PacketHead]: PacketHead[K] } = {
      type: this.#type,
      from: this.#from,
      id: this.#id,
      task_id: this.#taskId,
      token_used: this.#tokens,
    };
    if (this.#to !== undefined) head.to = this.#to;
    if (this.#tag !== undefined) head.tag = this.#tag;
    return head;
  }

  #see(known: KnownKey): EnvelopeKey {
    if ((this.#seen & known.bit) !== 0) throw notAPacket(`the key ${known.key} comes twice`);
    this.#seen |= known.bit;
    return known.key;
  }
}

/** Reads or steps over the value of one key, in some format. */
export interface FieldScanner {
  text(): string;
  /** Anything but a number for what is none. */
  number(): unknown;
  skipPayload(): void;
  skipValue(): void;
}

/** Takes what a head needs of the value of `key` and steps over the rest. */
export function readField(scanner: FieldScanner, key: EnvelopeKey, head: HeadFields): void {
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
      scanner.skipPayload();
      break;
    default:
      scanner.skipValue();
  }
}

/** Walks over the bytes of a packet that is written as a map. */
export interface MapScanner extends FieldScanner {
  /** @throws MeshError `packet` when no map comes next */
  mapSize(): number;
  key(head: HeadFields): EnvelopeKey;
  /** @throws MeshError `packet` when bytes are left */
  end(): void;
}

/** @throws MeshError `packet` for what is no map, or no map of a packet's keys */
export function readMapHead(scanner: MapScanner): PacketHead {
  const head = new HeadFields();
  for (let left = scanner.mapSize(); left > 0; left--) readField(scanner, scanner.key(head), head);
  scanner.end();
  return head.finish();
}

export function notAPacket(reason: string, cause?: unknown): MeshError {
  return new MeshError(
    'packet',
    `not a packet: ${shortReason(reason)}`,
    cause === undefined ? {} : { cause },
  );
}

/** Types, ids and task ids of a run come again in every packet; texts beyond this length are not worth keeping. */
const MAX_KEPT_LENGTH = 64;
const keptTexts: string[] = new Array(1024).fill('');

/**
 * The text of `bytes[start .. end)` if it is printable ASCII, else undefined. One that was read lately is not made anew:
 * a new string costs more than the rest of a peek.
 */
export function asciiText(bytes: Buffer, start: number, end: number): string | undefined {
  const length = end - start;
  if (length === 0) return '';
  const slot =
    (length * 31 + at(bytes, start) * 7 + at(bytes, end - 1) * 131 + at(bytes, start + (length >> 1)) * 17) &
    1023;
  const kept = keptTexts[slot];
  if (kept?.length === length && isSame(kept, bytes, start)) return kept;
  for (let i = start; i < end; i++) if (at(bytes, i) < 0x20 || at(bytes, i) > 0x7e) return undefined;
  const text = bytes.toString('latin1', start, end);
  if (length <= MAX_KEPT_LENGTH) keptTexts[slot] = text;
  return text;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * The text of `bytes[start .. end)`, a byte order mark included.
 *
 * @throws MeshError `packet` for what is not UTF-8
 */
export function utf8Text(bytes: Buffer, start: number, end: number): string {
  const plain = asciiText(bytes, start, end);
  if (plain !== undefined) return plain;
  try {
    return utf8.decode(bytes.subarray(start, end));
  } catch (error) {
    throw notAPacket('a text that is not UTF-8', error);
  }
}

function at(bytes: Uint8Array, index: number): number {
  return bytes[index] ?? -1;
}

function isAt(expected: Uint8Array, bytes: Uint8Array, start: number): boolean {
  for (let i = 0; i < expected.length; i++) if (bytes[start + i] !== expected[i]) return false;
  return true;
}

function isSame(text: string, bytes: Uint8Array, start: number): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) !== bytes[start + i]) return false;
  return true;
}
