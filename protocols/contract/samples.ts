import { MAX_PAYLOAD_DEPTH } from '@gaia-mesh/core/contracts/limits.ts';
import { type JsonValue, type Packet, parsePacket } from '@gaia-mesh/core/contracts/packet.ts';

/** A packet that every adapter must carry unchanged. */
interface ContractSample {
  readonly name: string;
  readonly packet: Packet;
}

/**
 * A packet with every key of the envelope, and a payload with every kind of value. It is small, so that tests
 * can cut and flip it everywhere.
 */
export const fullPacket = parsePacket({
  type: 'triples',
  from: 'extractor-1',
  to: 'writer',
  id: 'extractor-1-7',
  reply_to: 'writer-3',
  task_id: 't-1',
  tag: 'final_answer',
  token_used: 132,
  log_uri: 'workspaces/extractor-1/steps.log',
  ts: 1788220800012,
  payload: { text: 'né ✅', list: [1, -1, 0.5, null, true], nested: { key: {} } },
});

const minimalPacket = parsePacket({
  type: 't',
  from: 'a',
  id: '1',
  task_id: 't',
  token_used: 0,
  ts: 0,
  payload: {},
});

const edgeNumbers: readonly number[] = [
  ...[
    0,
    1,
    23,
    24,
    31,
    32,
    127,
    128,
    255,
    256,
    32_767,
    32_768,
    65_535,
    65_536,
    2 ** 31 - 1,
    2 ** 31,
    2 ** 32 - 1,
    2 ** 32,
  ],
  ...[2 ** 53 - 1, 2 ** 53, 1e21, 1e308, Number.MAX_VALUE, 5e-324, 2.2250738585072014e-308],
  ...[
    -1,
    -32,
    -33,
    -128,
    -129,
    -32_768,
    -32_769,
    -(2 ** 31),
    -(2 ** 31) - 1,
    -(2 ** 53) + 1,
    -1e308,
    -5e-324,
  ],
  ...[0.1, -0.1, 0.5, 1.5, 1 / 3, 16_777_217.5, 3.4028234663852886e38, 1e-7],
];

export const contractSamples: readonly ContractSample[] = [
  { name: 'all keys', packet: fullPacket },
  { name: 'required keys only', packet: minimalPacket },
  createSample('unicode in the envelope', {
    type: 'Ελληνικά',
    id: 'ключ-😀',
    task_id: '質問 "1"\\\n',
    tag: '\u0000\u007f\u2028',
  }),
  createSample('longest texts', {
    type: 't'.repeat(64),
    from: 'f'.repeat(64),
    id: 'é'.repeat(128),
    task_id: 'x'.repeat(256),
    log_uri: '/'.repeat(1024),
  }),
  createSample('largest numbers', { token_used: Number.MAX_SAFE_INTEGER, ts: Number.MAX_SAFE_INTEGER }),
  createSample('unicode payload', {
    payload: { 'ключ 😀': '引用 ✅ é \u0000 \u2028 \uffff \u{10ffff}', '"\\/': '"\\/\b\f\n\r\t' },
  }),
  createSample('byte order marks', {
    payload: {
      text: '\ufeffshort',
      long: `\ufeff${'long '.repeat(40)}`,
      '\ufeff': `\ufeff${'é'.repeat(80)}`,
    },
  }),
  createSample('empty values', { payload: { '': '', list: [], object: {}, lists: [[], [[]]], null: null } }),
  createSample('numbers at the edges', { payload: { numbers: edgeNumbers } }),
  createSample('keys and values that mean something to JavaScript', {
    payload: {
      constructor: 1,
      toString: 'x',
      toJSON: 'y',
      valueOf: null,
      hasOwnProperty: [],
      length: -1,
      '0': 0,
    },
  }),
  createSample('text that looks like the format', {
    payload: { text: '"},"from":"hub","x":{"', end: '}}]]' },
  }),
  createSample('deepest nesting', { payload: { deep: nestValue(MAX_PAYLOAD_DEPTH - 1) } }),
  createSample('many keys', {
    payload: Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`key-${i}`, i])),
  }),
  createSample('many items', { payload: { items: Array.from({ length: 70_000 }, (_, i) => i % 300) } }),
  createSample('a text of 1 MiB', { payload: { text: 'x'.repeat(1 << 20) } }),
  createSample('a text of 1 MiB in two-byte letters', { payload: { text: 'é'.repeat(1 << 19) } }),
  // At these lengths formats switch to a longer header.
  ...[15, 16, 31, 32, 255, 256, 65_535, 65_536].map((length) =>
    createSample(`texts, lists and keys of ${length}`, {
      payload: {
        text: 'x'.repeat(length),
        list: new Array<number>(length).fill(0),
        [`k${'y'.repeat(length - 1)}`]: 1,
      },
    }),
  ),
];

function createSample(name: string, change: { [K in keyof Packet]?: JsonValue }): ContractSample {
  return { name, packet: parsePacket({ ...minimalPacket, ...change }) };
}

function nestValue(depth: number): JsonValue {
  return depth === 0 ? 'end' : depth % 2 === 0 ? { in: nestValue(depth - 1) } : [nestValue(depth - 1)];
}
