import assert from 'node:assert/strict';
import { inspect, isDeepStrictEqual } from 'node:util';
import type { Codec, LayerBytes, ProtocolAdapter } from '@gaia-mesh/core/contracts/adapter.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { MAX_FRAME_BYTES } from '@gaia-mesh/core/contracts/limits.ts';
import {
  copyHead,
  HEAD_LENGTHS,
  HUB_ID,
  type Packet,
  type PacketHead,
  parsePacket,
  shortenReason,
} from '@gaia-mesh/core/contracts/packet.ts';
import { openMembers } from '@gaia-mesh/core/wire/members.ts';
import { RANDOM_NODES } from './random.ts';
import { contractSamples } from './samples.ts';

/** The members of one run: every sender of a sample can write, and the hub reads. */
export interface ContractRun {
  readonly reader: Codec;
  /**
   * Encodes as the node that the packet is from, since codecs that sign write for no other. The result is at
   * most as large as a frame.
   */
  encode(packet: Packet): Uint8Array;
  headerSize(packet: Packet): number;
  /** Returns the bytes that layers added to the packet that was encoded last; 0 without layers. */
  layerBytes(packet: Packet): LayerBytes;
  /** Opens another run of the same adapter. */
  again(): ContractRun;
}

const NODES = new Set([
  ...RANDOM_NODES,
  ...contractSamples.flatMap(({ packet: { from, to } }) => [from, to ?? from]),
]);
const RUN_KEY = new Uint8Array(32).fill(7);

export function openRun(adapter: ProtocolAdapter): ContractRun {
  const codecs = openMembers(adapter, 'contract', [...NODES], RUN_KEY);
  const codecOf = (node: string): Codec => {
    const codec = codecs.get(node);
    assert.ok(codec, `${node} is no member of the suite's run`);
    return codec;
  };
  return {
    reader: codecOf(HUB_ID),
    encode(packet) {
      const blob: unknown = callReader('encode', () => codecOf(packet.from).encode(packet));
      assert.ok(blob instanceof Uint8Array, `encode gives ${formatValue(blob)}, not a Uint8Array`);
      const { length } = blob;
      assert.ok(
        length <= MAX_FRAME_BYTES,
        `encode gives ${length} bytes; a frame has at most ${MAX_FRAME_BYTES}`,
      );
      return blob;
    },
    headerSize: (packet) => codecOf(packet.from).headerSize(packet),
    layerBytes: (packet) => ({ overhead: 0, last: 0, ...codecOf(packet.from).layerBytes }),
    again: () => openRun(adapter),
  };
}

/**
 * Returns the head that the reader peeks, at any position in a buffer; undefined if it refuses the blob or
 * cannot peek.
 */
export function peekHead({ peek, peekAt }: Codec, blob: Uint8Array, what: string): PacketHead | undefined {
  const head = tryCall(() => peek?.(blob), `${what}: peek`);
  if (peekAt !== undefined) {
    const around = Buffer.concat([Buffer.from('{"'), blob, Buffer.from('}}')]);
    const headAt = tryCall(() => copyHead(peekAt(around, 2, 2 + blob.length)), `${what}: peekAt`);
    assertSame(headAt, head, `peekAt and peek differ: ${what}`);
  }
  return head;
}

/** Asserts that the reader decodes `blob` as `packet`, and peeks the same where it can peek. */
export function assertArrives({ reader }: ContractRun, blob: Uint8Array, packet: Packet): void {
  // The hub and agents look at the head first, too, and then read the whole.
  const head = peekHead(reader, blob, 'what arrives');
  const decoded = callReader('decode', () => reader.decode(blob));
  assertSame(decoded, packet, 'what arrives is not what was sent');
  if (reader.peek !== undefined) assertSame(head, copyHead(packet), 'a peek gives another head');
}

/**
 * Asserts that decoding refuses the blob or gives a valid packet, on which a peek agrees. Where decoding
 * refuses, a peek may accept, because it reads less. It must still give a valid head, as the hub counts and
 * routes by it.
 *
 * @returns the packet; undefined where decoding refuses it
 */
export function assertSound({ reader }: ContractRun, blob: Uint8Array, what: string): Packet | undefined {
  const head = peekHead(reader, blob, what);
  if (head !== undefined) assertHead(head, what);
  const packet = tryCall(() => reader.decode(blob), `${what}: decode`);
  if (packet === undefined) return undefined;
  assertSame(parsePacket(packet), packet, `${what}: decoded as no packet`);
  if (reader.peek !== undefined) assertSame(head, copyHead(packet), `peek and decode differ: ${what}`);
  return packet;
}

/** Asserts that decoding refuses the blob, and that a peek refuses it, too, or gives a valid head. */
export function assertRefused(run: ContractRun, blob: Uint8Array, what: string): void {
  assert.ok(assertSound(run, blob, what) === undefined, `${what}: was not refused`);
}

/** Returns the result of `call`; an error other than a refusal is reported under `name`. */
function callReader<T>(name: string, call: () => T): T {
  try {
    return call();
  } catch (error) {
    const isRefusal = error instanceof MeshError && error.code === 'packet';
    if (isRefusal) throw new MeshError('packet', `${name} refused it: ${error.message}`, { cause: error });
    return assert.fail(shortenReason(`${name} threw ${String(error)}`));
  }
}

/**
 * Maximum time of a call: far longer than one takes on a busy machine, and far shorter than anything that
 * grows with the square of the bytes.
 */
const MAX_CALL_MS = 10_000;
/** Maximum length of a reason, as reasons go to logs and terminals. */
const MAX_REASON_LENGTH = 1200;

/** Returns the result of `call`; undefined if the adapter refused in the one allowed way. */
export function tryCall<T>(call: () => T, what: string): T | undefined {
  const before = process.threadCpuUsage();
  const { stackTraceLimit } = Error;
  // Thousands of blobs are refused, and the stack of a refusal takes longer to collect than the refusal itself.
  Error.stackTraceLimit = 0;
  try {
    return call();
  } catch (error) {
    if (!(error instanceof MeshError) || error.code !== 'packet')
      assert.fail(shortenReason(`${what}: threw ${String(error)}, not a MeshError with code packet`));
    assert.ok(
      error.message.length <= MAX_REASON_LENGTH,
      `${what}: a reason of ${error.message.length} letters`,
    );
    return undefined;
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
    const { user, system } = process.threadCpuUsage(before);
    const tookMs = (user + system) / 1000;
    assert.ok(tookMs < MAX_CALL_MS, `${what}: took ${Math.round(tookMs)} ms`);
  }
}

function assertHead(head: PacketHead, what: string): void {
  for (const [key, maxLength] of Object.entries(HEAD_LENGTHS)) {
    const text: unknown = Reflect.get(head, key);
    if (text === undefined && (key === 'to' || key === 'tag')) continue;
    assert.ok(typeof text === 'string', `${what}: a peek gives ${typeof text} for ${key}`);
    assert.ok(
      text.length > 0 && text.length <= maxLength,
      `${what}: a peek gives a ${key} of ${text.length} letters`,
    );
  }
  const { token_used } = head;
  assert.ok(
    Number.isSafeInteger(token_used) && token_used >= 0,
    `${what}: a peek gives ${token_used} tokens`,
  );
}

/**
 * Asserts that both are equal in every value. It replaces `assert.deepEqual`, which prints both values in
 * full: for two lists of 70,000 numbers that takes more memory than most machines have.
 *
 * @param what begins the reason
 */
export function assertSame(actual: unknown, expected: unknown, what: string): void {
  if (!isDeepStrictEqual(actual, expected))
    assert.fail(shortenReason(`${what}: ${findDifference(actual, expected, [])}`));
}

function findDifference(actual: unknown, expected: unknown, path: readonly string[]): string {
  const at = path.length === 0 ? '' : `${path.join('.')}: `;
  if (!isObject(actual) || !isObject(expected) || Array.isArray(actual) !== Array.isArray(expected))
    return `${at}expected ${formatValue(expected)}, received ${formatValue(actual)}`;
  const keys = new Set([...Object.keys(expected), ...Object.keys(actual)]);
  for (const key of keys) {
    const inside: readonly string[] = [...path, /^[\w-]{1,64}$/.test(key) ? key : formatValue(key)];
    if (!Object.hasOwn(actual, key)) return `${inside.join('.')} is missing`;
    if (!Object.hasOwn(expected, key)) return `${inside.join('.')} was not sent`;
    const [one, other]: unknown[] = [Reflect.get(actual, key), Reflect.get(expected, key)];
    if (!isDeepStrictEqual(one, other)) return findDifference(one, other, inside);
  }
  return `${at}expected a plain ${Array.isArray(expected) ? 'list' : 'object'}, received another kind of one`;
}

/** Formats the value in one line, cut if it is long. */
function formatValue(value: unknown): string {
  return inspect(value, { depth: 1, maxArrayLength: 3, maxStringLength: 60, breakLength: Infinity }).slice(
    0,
    200,
  );
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
