import { isAscii } from 'node:buffer';
import type { Codec } from '@gaia-mesh/core/contracts/adapter.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import {
  copyHead,
  HEAD_LENGTHS,
  type Packet,
  type PacketHead,
  parsePacket,
  shortenReason,
} from '@gaia-mesh/core/contracts/packet.ts';
import { PREFIX_BYTES } from '@gaia-mesh/core/wire/frame.ts';

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

interface KnownKey {
  readonly key: EnvelopeKey;
  readonly bit: number;
  readonly bytes: Uint8Array;
}

const knownKeys: readonly KnownKey[] = envelopeKeys.map((key, i) => ({
  key,
  bit: 1 << i,
  bytes: Buffer.from(key),
}));
const keysByLength: readonly (readonly KnownKey[])[] = Array.from({ length: 11 }, (_, length) =>
  knownKeys.filter(({ key }) => key.length === length),
);

/**
 * Reads the bytes of one packet, in some format, from the first to the last. It is strict, so that it refuses
 * bytes that two readers could read differently, and its time is bounded by the number of bytes. Every method
 * throws a MeshError `packet` for bytes that it refuses.
 */
export abstract class Scanner {
  protected readonly bytes: Buffer;
  protected at = 0;
  #seen = 0;

  constructor(blob: Uint8Array) {
    this.bytes = toBuffer(blob);
  }

  /**
   * Returns the next key of the envelope, whose value the caller reads next; undefined behind the last key,
   * where the bytes end.
   */
  abstract next(): EnvelopeKey | undefined;

  abstract text(): string;

  /** Reads any value. A value that JSON cannot hold may become anything that no packet may have. */
  abstract value(): unknown;

  /** Skips the payload; returns false where only reading it shows the bytes behind it. */
  abstract skipPayload(): boolean;

  /** Returns the envelope key in `bytes[start .. end)`, which must not have come before. */
  protected keyAt(start: number, end: number): EnvelopeKey {
    for (const known of keysByLength[end - start] ?? []) {
      if (isAt(known.bytes, this.bytes, start)) return this.#see(known);
    }
    throw createPacketError('a key that no packet has');
  }

  protected keyNamed(name: string): EnvelopeKey {
    const known = knownKeys.find(({ key }) => key === name);
    if (known === undefined) throw createPacketError('a key that no packet has');
    return this.#see(known);
  }

  #see({ key, bit }: KnownKey): EnvelopeKey {
    if ((this.#seen & bit) !== 0) throw createPacketError(`the key ${key} comes twice`);
    this.#seen |= bit;
    return key;
  }

  protected byte(): number {
    const byte = this.bytes[this.at];
    if (byte === undefined) throw createPacketError('it ends too early');
    this.at += 1;
    return byte;
  }

  /**
   * Decodes the text of `bytes[start .. end)`.
   *
   * @throws MeshError `packet` for bytes that are not UTF-8
   */
  protected textAt(start: number, end: number): string {
    return decodeUtf8(this.bytes, start, end);
  }

  /**
   * Decodes a text that will come again. A recently read one comes from the cache, as decoding it anew would
   * cost more than the rest of a peek.
   */
  protected cachedTextAt(start: number, end: number): string {
    const { bytes } = this;
    const length = end - start;
    if (length === 0 || length > MAX_KEPT_LENGTH) return decodeUtf8(bytes, start, end);
    const ends = (bytes[start] ?? 0) * 7 + (bytes[end - 1] ?? 0) * 131;
    const slot = (length * 31 + ends + (bytes[start + (length >> 1)] ?? 0) * 17) & 1023;
    const kept = keptTexts[slot] ?? '';
    if (kept.length === length && isSame(kept, bytes, start)) return kept;
    const text = decodeUtf8(bytes, start, end);
    if (text.length === length) keptTexts[slot] = text;
    return text;
  }

  /** Skips `count` bytes and returns the position where they began. */
  protected over(count: number): number {
    const start = this.at;
    if (count > this.bytes.length - start) throw createPacketError('it ends too early');
    this.at = start + count;
    return start;
  }
}

/**
 * Maximum length of a cached text: types, ids, task ids and keys come again in every packet, longer texts are
 * not worth keeping.
 */
const MAX_KEPT_LENGTH = 64;
const keptTexts: string[] = new Array(1024).fill('');

// A byte order mark is a letter like any other.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Maximum bytes for which a loop is faster than a call into the system. */
const SHORT = 24;

function decodeUtf8(bytes: Buffer, start: number, end: number): string {
  if (end - start <= SHORT ? isPlain(bytes, start, end) : isAscii(bytes.subarray(start, end)))
    return bytes.toString('latin1', start, end);
  try {
    return utf8.decode(bytes.subarray(start, end));
  } catch (error) {
    throw createPacketError('a text that is not UTF-8', error);
  }
}

function isPlain(bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if ((bytes[i] ?? 0) > 0x7f) return false;
  return true;
}

/** Returns true if the bytes are the letters of `text`: cached texts are ASCII. */
function isSame(text: string, bytes: Uint8Array, start: number): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) !== bytes[start + i]) return false;
  return true;
}

/** An adapter's part of a codec for a format with a scanner. */
interface Format {
  encode(packet: Packet): Uint8Array;
  scan(blob: Uint8Array): Scanner;
  /** Reads the values, where the scanner only checks them. Throws a MeshError `packet` too. */
  parse?(blob: Uint8Array): unknown;
  /** Bytes of `{}` as a payload. */
  readonly emptyPayloadBytes: number;
}

type PeekingCodec = Codec & Required<Pick<Codec, 'peek'>>;

/** Creates the codec of the format, which has no state. */
export function createCodec({ encode, scan, parse, emptyPayloadBytes }: Format): PeekingCodec {
  function decode(blob: Uint8Array): Packet {
    const scanner = scan(blob);
    if (parse === undefined) return scanPacket(scanner);
    // Libraries take the last of two equal keys, so the scanner looks for them first.
    scanHead(scanner);
    return parsePacket(parse(blob));
  }
  const headerSize = createHeaderSize(encode, emptyPayloadBytes);
  return { encode, decode, headerSize, peek: (blob) => scanHead(scan(blob)) ?? copyHead(decode(blob)) };
}

/** Returns `headerSize` by its definition, for an `encode` without state. */
export function createHeaderSize(encode: Codec['encode'], emptyPayloadBytes: number): Codec['headerSize'] {
  return (packet) => PREFIX_BYTES + encode({ ...packet, payload: {} }).length - emptyPayloadBytes;
}

function scanPacket(scanner: Scanner): Packet {
  const packet: Record<string, unknown> = {};
  for (let key = scanner.next(); key !== undefined; key = scanner.next()) packet[key] = scanner.value();
  return parsePacket(packet);
}

/** Returns the head, read up to the payload; undefined where only the whole packet shows it. */
function scanHead(scanner: Scanner): PacketHead | undefined {
  const found: FoundHead = createHead();
  for (let key = scanner.next(); key !== undefined; key = scanner.next()) {
    switch (key) {
      case 'type':
        found.type = scanner.text();
        break;
      case 'from':
        found.from = scanner.text();
        break;
      case 'to':
        found.to = scanner.text();
        break;
      case 'id':
        found.id = scanner.text();
        break;
      case 'task_id':
        found.task_id = scanner.text();
        break;
      case 'tag':
        found.tag = scanner.text();
        break;
      case 'token_used':
        found.token_used = scanner.value();
        break;
      case 'payload':
        if (!scanner.skipPayload()) return undefined;
        break;
      case 'ts':
        scanner.value();
        break;
      default:
        scanner.text();
    }
  }
  return checkHead(found);
}

/** The values found for a head, still unchecked. */
type FoundHead = { -readonly [K in keyof PacketHead]-?: unknown };

export function createHead(): FoundHead {
  return {
    type: undefined,
    from: undefined,
    to: undefined,
    id: undefined,
    task_id: undefined,
    tag: undefined,
    token_used: undefined,
  };
}

export function checkHead({ type, from, to, id, task_id, tag, token_used }: FoundHead): PacketHead {
  if (typeof token_used !== 'number' || !Number.isSafeInteger(token_used) || token_used < 0)
    throw createPacketError('token_used is not a whole number of at least 0');
  const head: { -readonly [K in keyof PacketHead]: PacketHead[K] } = {
    type: checkHeadText('type', type),
    from: checkHeadText('from', from),
    id: checkHeadText('id', id),
    task_id: checkHeadText('task_id', task_id),
    token_used,
  };
  if (to !== undefined) head.to = checkHeadText('to', to);
  if (tag !== undefined) head.tag = checkHeadText('tag', tag);
  return head;
}

function checkHeadText(key: keyof typeof HEAD_LENGTHS, value: unknown): string {
  if (typeof value !== 'string') throw createPacketError(`${key} is not a text`);
  if (value.length === 0) throw createPacketError(`${key} is empty`);
  if (value.length > HEAD_LENGTHS[key]) throw createPacketError(`${key} is longer than ${HEAD_LENGTHS[key]}`);
  return value;
}

export function createPacketError(reason: string, cause?: unknown): MeshError {
  return new MeshError(
    'packet',
    `not a packet: ${shortenReason(reason)}`,
    cause === undefined ? {} : { cause },
  );
}

/** Returns the same bytes as a Buffer, whose methods read numbers and texts. */
export function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

function isAt(expected: Uint8Array, bytes: Uint8Array, start: number): boolean {
  for (let i = 0; i < expected.length; i++) if (bytes[start + i] !== expected[i]) return false;
  return true;
}
