import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { MAX_PAYLOAD_DEPTH } from './limits.ts';
import { formatIssues, parsePacket } from './packet.ts';

const packet = {
  type: 'triples',
  from: 'extractor-1',
  id: 'extractor-1-1',
  task_id: 't-1',
  token_used: 0,
  ts: 0,
  payload: {},
};
const all = { ...packet, to: 'writer', reply_to: 'writer-1', tag: 'final_answer', log_uri: 'a/b.log' };

function refusal(change: object): object {
  return expect.objectContaining({
    code: 'packet',
    message: expect.stringContaining(Object.keys(change)[0] ?? ''),
  });
}

/** Arrays around `'x'`, `depth` of them. */
function nested(depth: number): unknown {
  let value: unknown = 'x';
  for (let i = 0; i < depth; i++) value = [value];
  return value;
}

describe('parsePacket', () => {
  it('returns the very value it was given, with its key order', () => {
    expect(parsePacket(packet)).toBe(packet);
    expect(parsePacket(all)).toBe(all);
    const reversed = Object.fromEntries(Object.entries(all).reverse());
    expect(Object.keys(parsePacket(reversed))).toEqual(Object.keys(reversed));
  });

  it.each(['type', 'from', 'id', 'task_id', 'token_used', 'ts', 'payload'])(
    'refuses a packet without %s',
    (key) => {
      const { [key]: _, ...rest } = { ...packet } as Record<string, unknown>;
      expect(() => parsePacket(rest)).toThrow(refusal({ [key]: undefined }));
    },
  );

  it.each([
    ['type', 64],
    ['id', 288],
    ['reply_to', 288],
    ['task_id', 256],
    ['tag', 64],
    ['log_uri', 1024],
  ])('takes %s of up to %i characters', (key, length) => {
    expect(parsePacket({ ...all, [key]: 'x'.repeat(length) })).toHaveProperty(key);
    const change = { [key]: 'x'.repeat(length + 1) };
    expect(() => parsePacket({ ...all, ...change })).toThrow(refusal(change));
  });

  it.each(['type', 'id', 'reply_to', 'task_id', 'tag'])('refuses an empty %s', (key) => {
    expect(() => parsePacket({ ...all, [key]: '' })).toThrow(refusal({ [key]: '' }));
  });

  it.each(['a', '7', 'A.b_c-d', 'did:web:a.org', 'x'.repeat(256)])('takes the node id %s', (id) => {
    expect(parsePacket({ ...packet, from: id, to: id })).toMatchObject({ from: id, to: id });
  });

  it.each(['', '.', '../..', '-a', '_a', 'a\\b', 'a b', 'é', 'a\n', 'x'.repeat(257), 7, null])(
    'refuses the node id %j',
    (id) => {
      expect(() => parsePacket({ ...packet, from: id })).toThrow(refusal({ from: id }));
      expect(() => parsePacket({ ...packet, to: id })).toThrow(refusal({ to: id }));
    },
  );

  it.each(['token_used', 'ts'])('takes %s from 0 to the largest safe integer', (key) => {
    for (const value of [0, 1, Number.MAX_SAFE_INTEGER])
      expect(parsePacket({ ...packet, [key]: value })).toBeTruthy();
    for (const value of [-1, 0.5, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY, '1', 1n, null]) {
      expect(() => parsePacket({ ...packet, [key]: value }), String(value)).toThrow(
        refusal({ [key]: value }),
      );
    }
  });

  it('refuses keys that no packet has', () => {
    expect(() => parsePacket({ ...packet, cause: 'x' })).toThrow(refusal({ cause: 'x' }));
    expect(() => parsePacket(JSON.parse(JSON.stringify(packet).replace('{', '{"__proto__":{},')))).toThrow(
      '__proto__',
    );
  });

  it.each(['to', 'reply_to', 'tag', 'log_uri'])('refuses %s that is there and undefined', (key) => {
    expect(() => parsePacket({ ...packet, [key]: undefined })).toThrow(refusal({ [key]: undefined }));
  });

  it.each([null, undefined, 7, 'x', [], [packet], new Map(Object.entries(packet))])('refuses %j', (value) => {
    expect(() => parsePacket(value)).toThrow(expect.objectContaining({ code: 'packet' }));
  });

  it.each([[null], [[]], ['x'], [new Date()], [new Map()], [new (class Payload {})()]])(
    'refuses %o for a payload',
    (payload) => {
      expect(() => parsePacket({ ...packet, payload })).toThrow(refusal({ payload }));
    },
  );

  it('takes every JSON value in a payload', () => {
    const payload = {
      text: 'né 😀',
      list: [1, -0.5, 1e308, null, true, [], {}],
      '': '',
      constructor: 1,
      toJSON: 'x',
    };
    expect(parsePacket({ ...packet, payload }).payload).toBe(payload);
    const bare: unknown = Object.assign(Object.create(null), { a: 1 });
    expect(parsePacket({ ...packet, payload: bare }).payload).toBe(bare);
  });

  it.each([
    ['undefined', undefined],
    ['NaN', Number.NaN],
    ['infinity', Number.NEGATIVE_INFINITY],
    ['a bigint', 1n],
    ['a symbol', Symbol('x')],
    ['a function', () => 1],
    ['a date', new Date(0)],
    ['bytes', new Uint8Array(1)],
    ['a map', new Map()],
    ['a boxed number', Object(1)],
    ['a hole in a list', new Array(1)],
    ['a lone surrogate', '\ud800'],
    ['a lone surrogate in a key', { '\udc00': 1 }],
    ['a key __proto__', JSON.parse('{"__proto__":1}')],
  ])('refuses %s in a payload and says where', (_, value) => {
    expect(() => parsePacket({ ...packet, payload: { list: [0, { value }] } })).toThrow(
      expect.objectContaining({ code: 'packet', message: expect.stringContaining('payload.list[1].value') }),
    );
  });

  it.each([
    ['a key', { ['k'.repeat(1e6)]: 1 }],
    ['100,000 keys', Object.fromEntries(Array.from({ length: 1e5 }, (_, i) => [`key-${i}`, i]))],
    ['a payload key', { payload: { ['😀'.repeat(1e6)]: Number.NaN } }],
  ])('gives a short reason for %s too much, however long', (_, extra) => {
    const message = expect.stringMatching(/^not a packet: .{1,1000}…$/su);
    expect(() => parsePacket({ ...packet, ...extra })).toThrow(
      expect.objectContaining({ code: 'packet', message }),
    );
  });

  it('takes a payload nested to the limit and refuses one level more', () => {
    expect(parsePacket({ ...packet, payload: { deep: nested(MAX_PAYLOAD_DEPTH - 1) } })).toBeTruthy();
    for (const depth of [MAX_PAYLOAD_DEPTH, 100_000]) {
      expect(() => parsePacket({ ...packet, payload: { deep: nested(depth) } })).toThrow(
        /nested deeper than 64/,
      );
    }
  });
});

it('explains a value that a schema refuses in words of its own, not in those of Zod', () => {
  const schema = z.strictObject({
    kind: z.enum(['a', 'b']),
    one: z.literal('x'),
    name: z.string().min(1).max(3),
    list: z.array(z.number()).max(2),
    count: z.int().positive(),
    share: z.number().lt(1).multipleOf(0.5),
    url: z.url(),
    id: z.string().regex(/^\d+$/),
    either: z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('adapters') }),
      z.object({ kind: z.literal('stacks') }),
    ]),
    record: z.record(z.string().min(2), z.number()),
    both: z.union([z.literal('auto'), z.string().min(3)]),
  });
  const wrong = {
    ...{ kind: 'c', one: 'y', name: '', list: [1, 2, 3], count: 0.5, share: 3.2, url: 'x', id: 'x' },
    ...{ either: {}, record: { a: 1 }, both: 'x', more: 1 },
  };
  const { error } = schema.safeParse(wrong);

  const told = error?.issues.map((issue) => formatIssues(new z.ZodError([issue])));

  expect(told).toEqual([
    'kind: expected "a" or "b"',
    'one: expected "x"',
    'name: expected at least 1 character',
    'list: expected at most 2 items',
    'count: expected a whole number, got number',
    'share: expected less than 1',
    'share: expected a multiple of 0.5',
    'url: expected URL',
    'id: expected a text like /^\\d+$/',
    'either.kind: expected "adapters" or "stacks"',
    'record.a: it cannot be used',
    'both: expected at least 3 characters',
    'there is no such key: more',
  ]);
});
