import type { Codec, ProtocolAdapter } from '@gaia-mesh/core/contracts/adapter.ts';
import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { parsePacket } from '@gaia-mesh/core/contracts/packet.ts';
import { expect, it } from 'vitest';
import { json } from '../json.ts';
import { testSession } from '../testing/session.ts';
import { jsonWriter } from '../testing/writers/json.ts';
import { type EnvelopeWriter, listContractChecks } from './suite.ts';

/** Returns the `json` adapter with a fault. */
function faulty(change: (codec: Codec) => Partial<Codec>): ProtocolAdapter {
  const codec = json.open(testSession);
  return { name: 'faulty', open: () => ({ ...codec, ...change(codec) }) };
}

/** Returns the failure that the check reports for the adapter; undefined if there is none. */
function verdict(
  adapter: ProtocolAdapter,
  writer: EnvelopeWriter | undefined,
  name: string,
): string | undefined {
  const check = listContractChecks(adapter, writer).find((candidate) => candidate.name === name);
  if (check === undefined) return undefined;
  try {
    check.run();
    return undefined;
  } catch (error) {
    return toErrorMessage(error);
  }
}

function parsed(blob: Uint8Array) {
  try {
    return parsePacket(JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(blob)));
  } catch (error) {
    throw new MeshError('packet', toErrorMessage(error));
  }
}

const TWICE = 'a key that comes twice is refused, in a peek too where it is of the head';

it('finds that the last of two equal keys is taken, where there is a writer', () => {
  const adapter = faulty(() => ({ decode: parsed }));
  expect(verdict(json, jsonWriter, TWICE)).toBeUndefined();
  expect(verdict(adapter, undefined, TWICE)).toBeUndefined();
  expect(verdict(adapter, jsonWriter, TWICE)).toContain('type twice');
});

it.each<[string, (codec: Codec) => Partial<Codec>, string]>([
  [
    'a peek that takes the first of two equal keys',
    () => ({
      peek: (blob) => {
        const { type, from, id, task_id, token_used, to, tag } = parsed(blob);
        return { type, from, id, task_id, token_used, ...(to && { to }), ...(tag && { tag }) };
      },
    }),
    TWICE,
  ],
  [
    'a peek that gives what is no head',
    ({ peek }) => ({
      peek(blob) {
        const text = Buffer.from(blob).toString();
        if (!text.includes('"token_used":-1')) return peek?.(blob) ?? expect.fail();
        return { type: 't', from: 'a', id: 'i', task_id: 't', token_used: -1 };
      },
    }),
    'a value of the wrong type or size is refused',
  ],
  [
    'a decoder that throws something else',
    () => ({ decode: (blob) => parsePacket(JSON.parse(Buffer.from(blob).toString())) }),
    'random bytes are refused',
  ],
  [
    'a decoder that needs a Buffer',
    ({ decode }) => ({
      decode: (blob) => (Buffer.isBuffer(blob) ? decode(blob) : decode(new Uint8Array(0))),
    }),
    'round trip of random packets',
  ],
])('finds %s', (_what, change, check) => {
  expect(verdict(faulty(change), jsonWriter, check)).toBeDefined();
});

const SMALLEST =
  'the smallest packet found that shows it: {"type":"t","from":"a","id":"1","task_id":"t","token_used":0,"ts":0,"payload":';

it.each<[string, (codec: Codec) => Partial<Codec>, string, string]>([
  [
    'swaps the values of two keys',
    ({ decode }) => ({
      decode: (blob) => {
        const packet = decode(blob);
        return { ...packet, id: packet.task_id, task_id: packet.id };
      },
    }),
    'round trip: all keys',
    `what arrives is not what was sent: id: expected '1', received 't'; ${SMALLEST}{}}`,
  ],
  [
    'loses the last character of texts',
    ({ decode }) => ({
      decode: (blob) => {
        const packet = decode(blob);
        const cut = Object.entries(packet.payload).map(([key, value]) => [
          key,
          typeof value === 'string' ? value.slice(0, -1) : value,
        ]);
        return { ...packet, payload: Object.fromEntries(cut) };
      },
    }),
    'round trip: a text of 1 MiB',
    `what arrives is not what was sent: payload.t: expected 'x', received ''; ${SMALLEST}{"t":"x"}}`,
  ],
  [
    'throws on letters beyond ASCII',
    ({ encode }) => ({
      encode: (packet) => {
        if (/[^ -~]/.test(JSON.stringify(packet))) throw new RangeError('only ASCII');
        return encode(packet);
      },
    }),
    'round trip: a text of 1 MiB in two-byte letters',
    `encode threw RangeError: only ASCII; ${SMALLEST}{"t":"é"}}`,
  ],
  [
    'takes what stands behind the packet',
    ({ decode }) => ({ decode: (blob) => decode(blob.subarray(0, blob.lastIndexOf(0x7d) + 1)) }),
    'bytes behind the packet are refused',
    'peek and decode differ: 1 bytes from 0x0 behind it: expected ',
  ],
])('shows the smallest packet with which an adapter %s', (_what, change, check, message) => {
  expect(verdict(faulty(change), undefined, check)).toContain(message);
});
