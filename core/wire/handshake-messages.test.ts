import { describe, expect, test } from 'vitest';
import type * as z from 'zod';
import { DELIVERY_WINDOW } from '../contracts/limits.ts';
import { HEAD_LENGTHS } from '../contracts/packet.ts';
import type { FrameLink } from './frame-link.ts';
import {
  beginSchema,
  helloSchema,
  readySchema,
  receive,
  refuse,
  welcomeSchema,
} from './handshake-messages.ts';

/** Returns what a side reads of this text, or how it refuses it. */
const read = (schema: z.ZodType, text: string): Promise<unknown> =>
  receive({ nextBlob: async () => Buffer.from(text) } as unknown as FrameLink, schema, 1).catch(
    ({ code, message }) => `${code}: ${message}`,
  );

const hello = {
  kind: 'hello',
  wire: 1,
  run: 'run-1',
  node: 'reader',
  tool: 'read',
  adapter: 'json',
  auth: 'hmac',
  nonce: 'ab'.repeat(32),
};
const { run: _run, ...common } = hello;
const welcome = { ...common, kind: 'welcome', proof: '', subscribes: [], emits: [] };
const begin = { kind: 'begin', proof: '', max_frame: 1 };

const text = (length: number) => 'x'.repeat(length);
const types = (count: number, length = 64) => Array(count).fill(text(length));
const done = (count: number, length = HEAD_LENGTHS.id) => ({ done: Array(count).fill(text(length)) });
const acknowledged = (more: object) => ({ mode: 'acknowledged', have: null, ...more });
const NONCES = [text(64), 'ab', 'AB'.repeat(32), `${hello.nonce}0`, `x${hello.nonce}`];

type Row = readonly [key: string, taken: readonly unknown[], refused: readonly unknown[]];
const COMMON: readonly Row[] = [
  ['wire', [1, 2], ['1', 1.5]],
  ['tool', ['t', text(64)], ['', text(65)]],
  ['adapter', ['a', text(256)], ['', text(257)]],
  ['auth', ['hmac', 'open'], ['none', '']],
  ['nonce', ['01'.repeat(32)], NONCES],
  ['else', [], [1]],
];
const FIELDS = {
  hello: [
    ...COMMON,
    ['run', ['r', text(128)], ['', text(129)]],
    ['node', ['*', 'a'], ['', 'a b', '**', 7]],
    ['ticket', ['', text(64)], [text(65), 7]],
    [
      'delivery',
      [acknowledged({}), acknowledged({ have: text(HEAD_LENGTHS.id), lossy: true })],
      [
        {},
        { mode: 'other', have: null },
        { mode: 'acknowledged' },
        acknowledged({ have: '' }),
        acknowledged({ have: text(HEAD_LENGTHS.id + 1) }),
        acknowledged({ lossy: false }),
        acknowledged({ else: 1 }),
      ],
    ],
  ],
  welcome: [
    ...COMMON,
    ['node', ['a'], ['*', '', 'a b']],
    ['proof', ['', text(64)], [text(65), 7]],
    ['subscribes', [types(64), types(1, 1)], [types(65), types(1, 65), types(1, 0), 'all']],
    ['emits', [types(64), types(1, 1)], [types(65), types(1, 65), types(1, 0), 'all']],
    ['offer', [null, 'a', { a: [1] }], []],
    [
      'delivery',
      [done(0), done(DELIVERY_WINDOW), done(1, 1)],
      [done(DELIVERY_WINDOW + 1), done(1, HEAD_LENGTHS.id + 1), done(1, 0), {}, { done: [], else: 1 }],
    ],
  ],
  begin: [
    ['proof', ['', text(64)], [text(65), 7]],
    ['max_frame', [1, 2 ** 30], [0, -1, 1.5, '1']],
    ['offers', [{}, { a: 1, 'did:wba:b': [null] }], [[], { 'a b': 1 }]],
    ['else', [], [1]],
  ],
} as const satisfies Record<string, readonly Row[]>;
const MESSAGES = [
  ['hello', hello, helloSchema],
  ['welcome', welcome, welcomeSchema],
  ['begin', begin, beginSchema],
] as const;
const UNEXPECTED = expect.stringMatching(/^handshake: unexpected handshake message: /);

describe.each(MESSAGES)('a %s', (kind, message, schema) => {
  test.each<Row>(FIELDS[kind])('has the field %s up to its bounds', async (key, taken, refused) => {
    for (const value of taken) {
      const given = { ...message, [key]: value };
      expect(await read(schema, JSON.stringify(given))).toEqual(given);
    }
    for (const value of refused)
      expect(await read(schema, JSON.stringify({ ...message, [key]: value })), `${key} ${value}`).toEqual(
        UNEXPECTED,
      );
  });

  test('is no other message, and lacks nothing', async () => {
    for (const [, other] of MESSAGES)
      if (other !== message) expect(await read(schema, JSON.stringify(other))).toEqual(UNEXPECTED);
    for (const key of Object.keys(message))
      expect(await read(schema, JSON.stringify({ ...message, [key]: undefined })), key).toEqual(UNEXPECTED);
  });
});

test('that both are ready is a message of its kind alone', async () => {
  expect(await read(readySchema, '{"kind":"ready"}')).toEqual({ kind: 'ready' });
  for (const other of ['{"kind":"begin"}', '{"kind":"ready","else":1}', '{}', 'null'])
    expect(await read(readySchema, other)).toEqual(UNEXPECTED);
});

test('what is no JSON is named', async () => {
  expect(await read(readySchema, 'hello?')).toMatch(
    /^handshake: the other end does not speak the handshake: .*JSON/,
  );
});

test('a refusal is read in the place of any message, up to its bound, and ends the connection that sends it', async () => {
  const refusal = (message: string) => JSON.stringify({ kind: 'refuse', message, more: 1 });
  for (const [, , schema] of MESSAGES)
    expect(await read(schema, refusal(text(2048)))).toBe(`handshake: the other end refused: ${text(2048)}`);
  expect(await read(readySchema, refusal(text(2049)))).toEqual(UNEXPECTED);
  const calls: string[] = [];
  const socket = { sendBlob: (blob: Buffer) => calls.push(`${blob}`), end: () => calls.push('end') };
  expect(() => refuse(socket as unknown as FrameLink, 'no')).toThrow(
    expect.objectContaining({ code: 'handshake', message: 'no' }),
  );
  expect(calls).toEqual(['{"kind":"refuse","message":"no"}', 'end']);
});
