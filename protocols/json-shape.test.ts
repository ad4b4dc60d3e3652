import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MeshError } from '../core/errors.ts';
import type { JsonValue, Packet } from '../core/packet.ts';
import { a2a } from './a2a.ts';
import { fullPacket } from './contract-samples.ts';
import { anyPacket, choices, headOf } from './fixtures/arbitrary-packets.ts';
import { testSession } from './fixtures/session.ts';
import { written } from './fixtures/written-json.ts';
import { mcp } from './mcp.ts';

const refused = expect.objectContaining({ code: 'packet' });
const { reply_to: _, tag: __, ...request } = fullPacket;

describe.each([
  ['an A2A request', a2a, request],
  ['an A2A event', a2a, fullPacket],
  ['an MCP call', mcp, fullPacket],
])('%s', (_name, adapter, plain: Packet) => {
  const codec = adapter.open(testSession);
  const peek = (text: string) => codec.peek?.(Buffer.from(text));
  const decode = (text: string) => codec.decode(Buffer.from(text));
  const plainText = Buffer.from(codec.encode(plain)).toString();

  it('decodes and peeks the same, however the JSON is written', () => {
    fc.assert(
      fc.property(anyPacket, choices, (packet, choice) => {
        const envelope: JsonValue = JSON.parse(Buffer.from(codec.encode(packet)).toString());
        for (const value of [envelope, reversed(envelope)]) {
          const blob = Buffer.from(written(value, choice));
          expect(codec.decode(blob)).toStrictEqual(packet);
          expect(codec.peek?.(blob)).toStrictEqual(headOf(packet));
          // Not every caller has a Buffer.
          expect(codec.peek?.(new Uint8Array(blob))).toStrictEqual(headOf(packet));
        }
      }),
      { numRuns: 100 },
    );
  });

  it('never peeks otherwise than it decodes, and throws nothing else, where text was damaged', () => {
    const pieces = [
      '"',
      '\\',
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      ' ',
      '1',
      '-',
      'null',
      '"from":',
      '"id":',
      'é',
      '\n',
    ];
    const damage = fc.tuple(fc.nat(1000), fc.nat(3), fc.constantFrom('', ...pieces));
    fc.assert(
      fc.property(anyPacket, fc.array(damage, { minLength: 1, maxLength: 3 }), (packet, damages) => {
        let text = Buffer.from(codec.encode(packet)).toString();
        for (const [at, cut, put] of damages) {
          const start = at % text.length;
          text = text.slice(0, start) + put + text.slice(start + cut);
        }
        const decoded = attempt(() => decode(text));
        const head = attempt(() => peek(text));
        if (decoded !== undefined) expect(head).toStrictEqual(headOf(decoded));
      }),
      { numRuns: 500 },
    );
  });

  it('refuses every key that comes twice, in a peek too', () => {
    const texts = objectsOf(JSON.parse(plainText)).flatMap((path) =>
      membersAt(plainText, path).flatMap(([key, value]) => [
        withMember(plainText, path, key, value),
        // The same key, written otherwise.
        withMember(
          plainText,
          path,
          `\\u${key.charCodeAt(0).toString(16).padStart(4, '0')}${key.slice(1)}`,
          value,
        ),
      ]),
    );
    expect(texts.length).toBeGreaterThan(30);
    for (const text of texts) {
      expect(() => decode(text)).toThrow(/comes twice/);
      expect(() => peek(text)).toThrow(/comes twice/);
    }
  });

  it('refuses keys that it does not know, in a peek too', () => {
    for (const path of objectsOf(JSON.parse(plainText))) {
      for (const key of ['x', '__proto__', 'constructor', 'kind', 'context_id']) {
        const text = withMember(plainText, path, key, {});
        expect(() => decode(text)).toThrow(refused);
        expect(() => peek(text)).toThrow(/has no place there/);
      }
    }
  });

  it('refuses an envelope without one of its keys', () => {
    for (const path of objectsOf(JSON.parse(plainText))) {
      for (const [key] of membersAt(plainText, path)) {
        if (['to', 'log_uri', 'reply_to', 'tag', 'lastChunk'].includes(key)) continue;
        const envelope: unknown = JSON.parse(plainText);
        Reflect.deleteProperty(objectAt(envelope, path), key);
        expect(() => decode(JSON.stringify(envelope)), `${path.join('.')}.${key}`).toThrow(refused);
      }
    }
  });

  it('takes time by the byte, whatever the bytes', () => {
    const start = plainText.slice(0, plainText.indexOf('{"text"'));
    for (const piece of ['[', '{"a":', '\\', '"', '\\"', '{}', '}', ' ', '"\\\\"', ',', '{"":"}"']) {
      for (const before of ['', start, `${start}{"a":`, `${start}{"a":"`, '{"jsonrpc":"', '{"']) {
        expect(attempt(() => peek(before + piece.repeat(1 << 16)))).toBeUndefined();
      }
    }
  });
});

type Path = readonly string[];

/** Where the envelope's objects are, the payload and what is in it left out, and objects that are always empty. */
function objectsOf(value: unknown, path: Path = []): readonly Path[] {
  if (typeof value !== 'object' || value === null) return [];
  if (['data', 'payload'].includes(path.at(-1) ?? '')) return [];
  const members = Object.entries(value);
  const inside = members.flatMap(([key, member]) => objectsOf(member, [...path, key]));
  return Array.isArray(value) || members.length === 0 ? inside : [path, ...inside];
}

function objectAt(value: unknown, path: Path): object {
  const found = path.reduce<unknown>((at, key) => Reflect.get(Object(at), key), value);
  if (typeof found !== 'object' || found === null) throw new Error(`no object at ${path.join('.')}`);
  return found;
}

function membersAt(text: string, path: Path): readonly [string, unknown][] {
  return Object.entries(objectAt(JSON.parse(text), path));
}

/** The JSON with one more member in the object at `path`; `key` is put there as it is. */
function withMember(text: string, path: Path, key: string, value: unknown): string {
  const envelope: unknown = JSON.parse(text);
  Object.assign(objectAt(envelope, path), { '§': value });
  return JSON.stringify(envelope).replace('"§":', () => `"${key}":`);
}

function reversed(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(reversed);
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, item]) => [key, reversed(item)]),
  );
}

/** The result; undefined where it was refused. Any other error than a refusal is thrown on. */
function attempt<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch (error) {
    if (error instanceof MeshError && error.code === 'packet') return undefined;
    throw error;
  }
}
