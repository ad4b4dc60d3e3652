import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Codec } from '../core/adapter.ts';
import { arena } from '../core/arena.ts';
import { MeshError } from '../core/errors.ts';
import { FrameRun, frameOf } from '../core/frame.ts';
import { MAX_FRAME_BYTES } from '../core/limits.ts';
import type { PacketHead } from '../core/packet.ts';
import { Slab, slabs } from '../core/slab.ts';
import { plainPacket } from './fixtures/arbitrary-packets.ts';
import { testSession } from './fixtures/session.ts';
import { json } from './json.ts';

/** The blobs as one run, behind some other bytes; in the arena, where there are others behind it, too. */
function runOf(blobs: readonly Uint8Array[], isInArena = false): FrameRun {
  const before = frameOf(Buffer.from('before'));
  const frames = blobs.map(frameOf);
  const all = Buffer.concat([before, ...frames]);
  const slab = isInArena ? slabs.take() : new Slab(all, () => undefined);
  if (isInArena) {
    expect(arena.has(slab.bytes)).toBe(true);
    all.copy(slab.bytes);
    slab.release();
  }
  return new FrameRun(slab.bytes.subarray(before.length, all.length), slab, MAX_FRAME_BYTES);
}

/** Goes through a run as the hub does. What was seen of each packet: the head, or undefined where it was refused. */
function headsOf(codec: Codec, run: FrameRun) {
  const heads: (PacketHead | undefined)[] = [];
  const tokens: number[] = [];
  let glances = 0;
  for (;;) {
    const alike = codec.alike?.(run);
    if (alike === undefined) {
      const blob = run.next();
      if (blob === undefined) break;
      const head = attempt(() => codec.peek?.(blob));
      heads.push(head);
      tokens.push(head?.token_used ?? 0);
      continue;
    }
    glances += alike.packets;
    for (let n = 0; n < alike.packets; n++) heads.push(alike.head);
    tokens.push(alike.tokens);
    run.at = alike.end;
  }
  return { heads, tokens: tokens.reduce((sum, each) => sum + each, 0), glances };
}

/** Without what may differ between packets that are alike. */
function signature(head: PacketHead | undefined) {
  return head === undefined ? undefined : { ...head, id: '', token_used: 0 };
}

function attempt<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch (error) {
    if (error instanceof MeshError && error.code === 'packet') return undefined;
    throw error;
  }
}

const texts = fc.constantFrom('x', 'a text', '{', '}', '}}', '"', '\\', 'é', '|', '~\u007f', 'y'.repeat(300));
const payload = fc.oneof(
  fc.constant({}),
  fc.record({ text: texts }),
  fc.record({ text: texts, list: fc.array(fc.record({ a: texts }), { maxLength: 3 }) }),
);
const packet = fc
  .record(
    {
      type: fc.constantFrom('a', 'triples', 'é'),
      from: fc.constantFrom('0', 'extractor-1'),
      to: fc.constantFrom('1', 'hub'),
      id: fc.oneof(fc.stringMatching(/^[a-z0-9-]{1,12}$/), fc.constantFrom('"', 'é', 'i'.repeat(128))),
      reply_to: fc.constantFrom('0-1', '"', 'r'.repeat(200)),
      task_id: fc.constantFrom('t', 't-1'),
      tag: fc.constantFrom('final_answer', 'x'),
      token_used: fc.oneof(fc.nat(20), fc.nat(2 ** 40)),
      log_uri: fc.constantFrom('workspaces/0/log', '\\', ''),
      ts: fc.constantFrom(0, 1_700_000_000_000),
      payload,
    },
    {
      requiredKeys: ['type', 'from', 'id', 'task_id', 'token_used', 'ts', 'payload'],
      noNullPrototype: true,
    },
  )
  .map((record) => JSON.stringify(record));

const pieces = ['', '"', '\\', '{', '}', ',', ':', ' ', '0', '-', '}}', ',"from":"9"', '"type":"b",', '\n'];
const damage = fc.tuple(fc.nat(1000), fc.nat(3), fc.constantFrom(...pieces));

/** Blobs of some packets, each a few times and then damaged. */
const blobs = fc
  .tuple(
    fc.array(packet, { minLength: 1, maxLength: 4 }),
    fc.array(
      fc.record({ which: fc.nat(3), times: fc.integer({ min: 1, max: 6 }), damages: fc.array(damage) }),
      { minLength: 1, maxLength: 20 },
    ),
  )
  .map(([packets, stretches]) =>
    stretches.flatMap(({ which, times, damages }) => {
      let text = packets[which % packets.length] ?? '';
      const whole = Array.from({ length: times }, () => Buffer.from(text));
      for (const [at, cut, put] of damages.slice(0, 2)) {
        const start = at % (text.length + 1);
        text = text.slice(0, start) + put + text.slice(start + cut);
      }
      return [...whole, Buffer.from(text)];
    }),
  );

describe('a run of alike JSON packets', () => {
  it('is seen as a peek at each packet sees it, damaged ones too', () => {
    fc.assert(
      fc.property(blobs, fc.boolean(), (blobs, isInArena) => {
        const run = runOf(blobs, isInArena);
        const peeked = blobs.map((blob) => attempt(() => json.open(testSession).peek?.(blob)));
        const { heads, tokens } = headsOf(json.open(testSession), run);
        expect(heads.map(signature)).toStrictEqual(peeked.map(signature));
        expect(tokens).toBe(peeked.reduce((sum, head) => sum + (head?.token_used ?? 0), 0));
        const learned = json.open(testSession);
        expect(blobs.map((blob) => attempt(() => learned.peek?.(blob)))).toStrictEqual(peeked);
      }),
      { numRuns: 600 },
    );
  });

  it('is decoded as each packet alone is, damaged ones too', () => {
    const decodedBy = (codec: Codec, blob: Uint8Array) =>
      attempt(() => {
        const packet = codec.decode(blob);
        return [packet, Object.keys(packet)];
      });
    fc.assert(
      fc.property(blobs, fc.boolean(), (blobs, peeksFirst) => {
        const codec = json.open(testSession);
        for (const blob of blobs) {
          if (peeksFirst) attempt(() => codec.peek?.(blob));
          expect(decodedBy(codec, blob)).toStrictEqual(decodedBy(json.open(testSession), blob));
        }
      }),
      { numRuns: 600 },
    );
  });

  it.each([
    ['a node id that is none', (text: string) => text.replaceAll('"from":"2"', '"from":"../2"')],
    ['a time with a zero in front', (text: string) => text.replace('"ts":', '"ts":0')],
    ['__proto__ in a payload', (text: string) => text.replace('"payload":{', '"payload":{"__proto__":1,')],
    [
      'a number that no JSON can hold',
      (text: string) => text.replace('"payload":{', '"payload":{"n":1e999,'),
    ],
    ['half of a payload', (text: string) => text.replace('"payload":{', '"payload":{"')],
    ['bad UTF-8', (text: string) => text.replace('"payload":{', '"payload":{"\u00ff":1,'), 'latin1'],
  ] as const)('refuses %s, however often a peek has seen it', (_, change, encoding?: 'latin1') => {
    const text = JSON.stringify({ ...plainPacket, from: '2' });
    const codec = json.open(testSession);
    const bad = Buffer.from(change(text), encoding);
    for (let n = 0; n < 3; n++) {
      codec.decode(Buffer.from(text));
      attempt(() => codec.peek?.(bad));
      expect(() => codec.decode(bad)).toThrow(MeshError);
    }
  });

  it('takes one peek for each head, whatever the ids, numbers and payloads', () => {
    const streams = [
      { ...plainPacket, to: undefined },
      { ...plainPacket, type: 'another', tag: 'x', log_uri: 'workspaces/0/x' },
    ];
    const blobs = Array.from({ length: 2000 }, (_, n) =>
      inOrder({
        ...streams[Math.floor(n / 10) % 2],
        id: `i-${n}`,
        reply_to: n % 3 === 0 ? `r-${n}` : undefined,
        token_used: n,
        ts: 1_700_000_000_000 + n,
        payload: n % 2 === 0 ? { text: 'x'.repeat(n) } : { list: [{ n }, {}] },
      }),
    );
    const { heads, tokens, glances } = headsOf(json.open(testSession), runOf(blobs));
    expect(heads).toHaveLength(2000);
    expect(heads[5]?.type).toBe('triples');
    expect(heads[15]?.type).toBe('another');
    expect(tokens).toBe((1999 * 2000) / 2);
    expect(glances).toBe(1998);
  });

  it.each([false, true])('goes on learning heads that come again, in the arena (%s) too', (isInArena) => {
    const blobs = Array.from({ length: 300 }, (_, n) =>
      inOrder({ ...plainPacket, task_id: `t-${Math.floor(n / 3)}` }),
    );
    const { heads, glances } = headsOf(json.open(testSession), runOf(blobs, isInArena));
    expect(heads.map((head) => head?.task_id)).toEqual(blobs.map((_, n) => `t-${Math.floor(n / 3)}`));
    expect(glances).toBe(200);
  });

  it('still sees what stands behind a payload', () => {
    const plain = JSON.stringify(plainPacket);
    const codec = json.open(testSession);
    const twice = plain.replace(/\}$/, ',"from":"another"}');
    const { heads } = headsOf(codec, runOf([plain, plain, twice, plain].map((text) => Buffer.from(text))));
    expect(heads.map((head) => head?.from)).toEqual([
      plainPacket.from,
      plainPacket.from,
      undefined,
      plainPacket.from,
    ]);
  });

  it('learns hardly anything from heads that never come again', () => {
    const blobs = Array.from({ length: 5000 }, (_, n) =>
      Buffer.from(JSON.stringify({ ...plainPacket, task_id: `t-${n}` })),
    );
    const { heads, glances } = headsOf(json.open(testSession), runOf(blobs));
    expect(heads.map((head) => head?.task_id)).toEqual(blobs.map((_, n) => `t-${n}`));
    expect(glances).toBe(0);
  });
});

const order = [
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
];

/** A packet as the project's own encoder writes it. */
function inOrder(packet: Readonly<Record<string, unknown>>): Buffer {
  return Buffer.from(JSON.stringify(Object.fromEntries(order.map((key) => [key, packet[key]]))));
}
