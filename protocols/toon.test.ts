import { isDeepStrictEqual } from 'node:util';
import { MAX_PAYLOAD_DEPTH } from '@gaia-mesh/core/contracts/limits.ts';
import { type JsonObject, type JsonValue, parsePacket } from '@gaia-mesh/core/contracts/packet.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tryCall } from './contract/run.ts';
import { plainPacket } from './testing/packets.ts';
import { opened, refused } from './testing/session.ts';
import { toon } from './toon.ts';

const { codec, decode, peek } = opened(toon);

function textOf(payload: JsonObject): string {
  return Buffer.from(codec.encode({ ...plainPacket, payload })).toString();
}

const plainText = textOf({ a: 1 });
const envelopeText = textOf({}).replace(/\n\n$/, '');
/** Returns a packet with these lines for its payload. */
const withPayloadLines = (...lines: string[]) => `${[envelopeText, ...lines].join('\n')}\n\n`;

/** Texts with a special meaning in TOON, and similar ones. */
const text = fc.oneof(
  fc.constantFrom(
    ...[
      '',
      '-',
      '- ',
      '- x',
      '#',
      '# x',
      ':',
      'a:b',
      'a: b',
      ',',
      'a,b',
      'a|b',
      'a\tb',
      '[]',
      '[3]',
      '[1]: x',
      '{x}',
      '[2]{a}:',
    ],
    ...[
      '"',
      'a"b',
      '\\',
      '\\n',
      '\n',
      '\r',
      '\t',
      '\0',
      ' ',
      ' x',
      'x ',
      '\u00a0',
      '\u2028',
      '\ufeff',
      '\ufeffx',
      '\u0085',
    ],
    ...[
      'null',
      'true',
      'false',
      'NaN',
      'Infinity',
      '0',
      '-0',
      '1',
      '-1',
      '01',
      '+1',
      '1.',
      '.5',
      '1e5',
      '1E400',
      '0x1f',
      '1_000',
    ],
    ...['constructor', 'toJSON', 'a.b', 'a-b', '0', 'é', '😀'],
  ),
  fc.string({ unit: 'binary', maxLength: 8 }),
);
const primitive = fc.oneof(
  text,
  text,
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
);
const keys = fc.uniqueArray(text, { minLength: 1, maxLength: 3 });
/** Payloads of nested lists, tables and keyed tables, for which TOON has forms of its own. */
const payloads = fc
  .letrec<{ value: unknown }>((tie) => {
    const cell = fc.oneof(primitive, primitive, primitive, tie('value'));
    const row = (names: readonly string[]) =>
      fc
        .tuple(...names.map(() => cell))
        .map((cells) => Object.fromEntries(names.map((name, i) => [name, cells[i]])));
    return {
      value: fc.oneof(
        { maxDepth: 4, depthSize: 'small' },
        primitive,
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(text, tie('value'), { maxKeys: 4, noNullPrototype: true }),
        keys.chain((names) => fc.array(row(names), { minLength: 1, maxLength: 3 })),
        keys.chain((names) =>
          fc.dictionary(text, row(names), { minKeys: 2, maxKeys: 3, noNullPrototype: true }),
        ),
      ),
    };
  })
  .value.map((value): JsonObject => JSON.parse(JSON.stringify({ value })))
  .filter((payload) => !JSON.stringify(payload).includes('"__proto__"'));

describe('toon', () => {
  it('is TOON in the order of the sender, and an empty line', () => {
    const rows = [
      { subject: 'The mill', sentence: 0 },
      { subject: '1804', sentence: 1 },
    ];
    expect(textOf({ question: 'Who built the mill?', rows, tags: ['a', 'b, c'] })).toBe(
      [
        'type: triples',
        'from: extractor-1',
        'to: writer',
        'id: extractor-1-7',
        'task_id: t-1',
        'tag: x',
        'token_used: 7',
        'ts: 1',
        'payload:',
        '  question: Who built the mill?',
        '  rows[2]{subject,sentence}:',
        '    The mill,0',
        '    "1804",1',
        '  tags[2]: a,"b, c"',
        '',
        '',
      ].join('\n'),
    );
  });

  it('carries lists, tables and keyed tables of texts that look like TOON', () => {
    fc.assert(
      fc.property(payloads, (payload) => {
        const packet = parsePacket({ ...plainPacket, payload });
        // Vitest would compare the values of keys named `constructor`.
        expect(isDeepStrictEqual(codec.decode(codec.encode(packet)), packet)).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  it('throws nothing else, where such texts were damaged', () => {
    const pieces = [
      '',
      '"',
      '\\',
      ' ',
      '  ',
      '\n',
      '-',
      '- ',
      '#',
      ':',
      ',',
      '[',
      ']',
      '[1]',
      '{',
      '}',
      '1',
      'x',
      '\t',
      '\r',
    ];
    fc.assert(
      fc.property(
        payloads,
        fc.nat(1000),
        fc.nat(3),
        fc.constantFrom(...pieces),
        (payload, place, cut, put) => {
          const text = textOf(payload);
          const at = place % text.length;
          tryCall(() => decode(text.slice(0, at) + put + text.slice(at + cut)), 'decode');
        },
      ),
      { numRuns: 1000 },
    );
  });

  it.each([
    ['nothing', ''],
    ['empty lines', '\n\n'],
    ['no empty line behind it', plainText.slice(0, -1)],
    ['an empty line too many', `${plainText}\n`],
    ['an empty line before it', `\n${plainText}`],
    ['an empty line within', plainText.replace('\n', '\n\n')],
    ['two packets', plainText + plainText],
    ['a byte order mark', `\ufeff${plainText}`],
    ['a comment', `# hello\n${plainText}`],
    ['a payload before the rest that is not indented', plainText.replace('  a: 1', 'a: 1')],
    ['an unknown key', `cause: x\n${plainText}`],
    ['a key in quotes', plainText.replace('type', '"type"')],
    ['a space before a colon', plainText.replace('type:', 'type :')],
    ['no space behind a colon', plainText.replace('type: ', 'type:')],
    ['two spaces behind a colon', plainText.replace('type: ', 'type:  ')],
    ['a space behind a text', plainText.replace('triples', 'triples ')],
    ['no text', plainText.replace('triples', '')],
    ['an empty text', plainText.replace('triples', '""')],
    ['an open text', plainText.replace('triples', '"triples')],
    ['a bad escape', plainText.replace('triples', '"tri\\xples"')],
    ['a surrogate as an escape', plainText.replace('triples', '"\\ud800"')],
    ['a long type', plainText.replace('triples', 'x'.repeat(65))],
    ['tokens below 0', plainText.replace('token_used: 7', 'token_used: -1')],
    ['tokens as text', plainText.replace('token_used: 7', 'token_used: "7"')],
    ['half a token', plainText.replace('token_used: 7', 'token_used: 0.5')],
    ['tokens written otherwise', plainText.replace('token_used: 7', 'token_used: 7e0')],
    ['tokens with a leading zero', plainText.replace('token_used: 7', 'token_used: 07')],
    ['tokens beyond counting', plainText.replace('token_used: 7', 'token_used: 9007199254740992')],
  ])('refuses %s, in a peek too', (_, text) => {
    expect(() => decode(text)).toThrow(refused);
    expect(() => peek(text)).toThrow(refused);
  });

  it.each([
    ['a type that is a number', plainText.replace('triples', '7')],
    ['a type that is a literal', plainText.replace('triples', 'null')],
    ['a payload that is a list', plainText.replace('payload:\n  a: 1', 'payload[1]: 1')],
    ['a payload that is a text', plainText.replace('payload:\n  a: 1', 'payload: x')],
    ['a node id that names no node', plainText.replace('writer', '../writer')],
    ['a line end with a return', plainText.replace('ts: 1', 'ts: 1\r')],
    ['an open text in the payload', withPayloadLines('  a: "x')],
    ['a key __proto__', withPayloadLines('  __proto__: 1')],
    ['a key that comes twice', withPayloadLines('  a: 1', '  a: 2')],
    ['a comment in the payload', withPayloadLines('  # x')],
    ['a line of spaces', withPayloadLines('  a: 1', '  ')],
    ['odd indentation', withPayloadLines('   a: 1')],
    ['indentation by a tab', withPayloadLines('  b:', ' \ta: 1')],
    ['an indentation too many', withPayloadLines('    a: 1')],
    ['a list with too few items', withPayloadLines('  a[2]: 1')],
    ['a list with too many items', withPayloadLines('  a[1]: 1,2')],
    ['a table with too few rows', withPayloadLines('  a[2]{x}:', '    1')],
    ['a table with too many cells', withPayloadLines('  a[1]{x}:', '    1,2')],
    ['a table with a field twice', withPayloadLines('  a[1]{x,x}:', '    1,2')],
    ['another delimiter', withPayloadLines('  a[2|]: 1|2')],
    ['a header with a gap', withPayloadLines('  a[1] {x}:', '    1')],
    ['open braces', withPayloadLines('  a[1]{x:', '    1')],
    ['braces without a list', withPayloadLines('  a{x}: 1')],
    ['two headers in a line', withPayloadLines('  a[1]: b[1]: 1')],
  ])('leaves %s to whoever decodes', (_, text) => {
    expect(peek(text)).toMatchObject({ from: 'extractor-1', id: 'extractor-1-7' });
    expect(() => decode(text)).toThrow(refused);
  });

  it('refuses what is not UTF-8', () => {
    for (const bytes of [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xc0, 0x80]]) {
      for (const before of ['triples', 'a: 1']) {
        const blob = Buffer.from(plainText.replace(before, '#'.repeat(bytes.length)));
        blob.set(bytes, blob.indexOf('#'));
        expect(() => codec.decode(blob)).toThrow(refused);
      }
    }
  });

  it('takes the deepest payload in every form and refuses one level more', () => {
    const nested = (depth: number, wrap: (inner: JsonValue) => JsonValue): JsonObject => {
      let value: JsonValue = 1;
      for (let i = 1; i < depth; i++) value = wrap(value);
      return { value };
    };
    const wraps: readonly ((inner: JsonValue) => JsonValue)[] = [
      (inner) => [inner],
      (inner) => ({ x: inner }),
      (inner) => [{ x: inner }],
      (inner) => [{ x: [inner, 1] }, 2],
    ];
    for (const wrap of wraps) {
      const levels =
        JSON.stringify(wrap(0))
          .match(/^[^0]*/)?.[0]
          .match(/[[{]/g)?.length ?? 1;
      const packet = { ...plainPacket, payload: nested(Math.floor(MAX_PAYLOAD_DEPTH / levels), wrap) };
      expect(codec.decode(codec.encode(packet))).toStrictEqual(packet);
      const deeper = { ...plainPacket, payload: nested(MAX_PAYLOAD_DEPTH + 2, wrap) };
      expect(() => codec.decode(codec.encode(deeper))).toThrow(refused);
    }
  });

  it('takes time by the byte, whatever the bytes', () => {
    const count = 1 << 17;
    for (const line of [
      `  a[1]${' '.repeat(count)}x: 1`,
      `  a[1]{x},${' '.repeat(count)}y: 1`,
      `  a[]${' '.repeat(count)}x: 1`,
      `  a[1]${'{a'.repeat(count)}:`,
      `  a[${'1'.repeat(count)}]: 1`,
      `  ${'- '.repeat(count)}`,
      `  "${'\\'.repeat(count)}`,
      ' '.repeat(count),
      `${' '.repeat(count)}a: 1`,
      '  a[1]:\n\n'.repeat(count),
      '  - \n'.repeat(count),
      '"'.repeat(count),
    ]) {
      expect(tryCall(() => decode(withPayloadLines(line)), line.slice(0, 10))).toBeUndefined();
      tryCall(() => peek(withPayloadLines(line)), line.slice(0, 10));
    }
  });
});
