import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../../core/contracts/packet.ts';
import type { Recording } from '../../../core/recording/recording.ts';
import { Random } from '../../../core/system/random.ts';
import { tokensOf } from '../../../core/tokens/o200k.ts';
import { ImportNotes } from '../message.ts';
import { PROTOCOL_KEYS } from './protocol-names.ts';
import { redacted } from './redact.ts';
import { standInNumber } from './stand-in-number.ts';
import { standInText } from './stand-in-text.ts';
import { allWords } from './words.ts';

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

function recordingOf(payload: JsonObject): Recording {
  const said = { token_used: 3, ts: 1_770_000_000_123, task_id: 'Тема' };
  return {
    header: {
      ...{
        run_id: 'ФАЙЛ',
        team: 'imported',
        final: null,
        routing: 'direct',
        adapter: 'mcp',
        engine: 'unknown',
      },
      agents: ['ALPHA', 'BETA'].map((id) => ({ id, tool: 'imported' })),
    },
    packets: [
      {
        cause: null,
        isCauseInferred: true,
        toolUs: 0,
        packet: { ...said, type: 'doc_init', from: 'hub', id: 'hub-1', payload: {} },
      },
      {
        cause: 'hub-1',
        toolUs: 5,
        packet: { ...said, type: 'ДЕЛО', from: 'ALPHA', to: 'BETA', id: 'ALPHA-1', payload },
      },
      {
        ...{ cause: 'ALPHA-1', toolUs: 6 },
        packet: {
          ...said,
          type: 'tools/call.result',
          from: 'BETA',
          to: 'ALPHA',
          id: 'BETA-1',
          reply_to: 'ALPHA-1',
          payload: {},
        },
      },
    ],
  };
}

test('every word that stands in is one token', () => {
  expect(allWords.filter((word) => tokensOf(` ${word}`) !== 1)).toEqual([]);
});

describe('a text', () => {
  test('has a stand-in of as many bytes, in UTF-8 and in JSON, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), fc.nat(), (text, seed) => {
        fc.pre(text.isWellFormed());
        const { text: stand } = standInText(text, new Random(seed), tokensOf);
        expect(Buffer.byteLength(stand)).toBe(Buffer.byteLength(text));
        expect(bytesOf(stand)).toBe(bytesOf(text));
      }),
    );
  });

  test.each([
    'How many berths are for fishing boats?',
    '{"query":"berths for fishing boats","limit":[1,2,3]}',
    'def f(x):\n    return x + 1\n\n\n# "quoted" and \\ escaped\n',
    '灯台は島の北西にあり、霧の日には鐘が鳴らされた。',
    'a1b2c3d4-e5f6-7890-abcd-ef0123456789',
    'x',
    'The granite tower that stands on it is 37.5 metres tall. '.repeat(200),
  ])('has a stand-in of as many tokens: %.60s', (text) => {
    const { text: stand, isExact } = standInText(text, new Random(7), tokensOf);

    expect([tokensOf(stand), isExact]).toEqual([tokensOf(text), true]);
    expect(bytesOf(stand)).toBe(bytesOf(text));
  });

  test('that has hardly a token has a stand-in with more, which says so', () => {
    expect(standInText('='.repeat(500), new Random(7), tokensOf)).toMatchObject({ isExact: false });
  });
});

test('a number has another of as many characters in its place, whole where it is whole', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.maxSafeInteger()),
      fc.nat(),
      (value, seed) => {
        const stand = standInNumber(value, new Random(seed));
        expect(JSON.stringify(stand).length).toBe(JSON.stringify(value).length);
        expect(Number.isSafeInteger(stand)).toBe(Number.isSafeInteger(value));
      },
    ),
    { numRuns: 300 },
  );
});

/** Letters that no stand-in has. */
const foreign = fc.string({
  unit: fc.constantFrom(...'БВГДЖЗЙЛПФЦЧШЩЪЫЭЮЯ', ...'ABCDEFGHJKLMNOPQRSTUVWXYZ', '€', '✅'),
  minLength: 1,
  maxLength: 40,
});
const { payload: payloads } = fc.letrec<{ value: JsonValue; payload: JsonObject }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    foreign,
    fc.integer(),
    fc.constant(null),
    fc.boolean(),
    fc.array(tie('value'), { maxLength: 4 }),
    tie('payload'),
  ),
  payload: fc.dictionary(fc.oneof(foreign, fc.constantFrom('role', 'content', 'arguments')), tie('value'), {
    maxKeys: 5,
  }),
}));

describe('a redacted recording', () => {
  test('has the shape and the sizes of the original, and none of its letters', async () => {
    await fc.assert(
      fc.asyncProperty(payloads, async (payload) => {
        const original = recordingOf(payload);
        const red = await redacted(original, new ImportNotes());
        const text = JSON.stringify(red).replaceAll('toolUs', '').replaceAll('isCauseInferred', '');
        expect(text).not.toMatch(/[А-ЯA-Z€✅]/);
        red.packets.forEach(({ packet }, index) => {
          const other = original.packets[index]?.packet;
          expect(bytesOf(packet.payload)).toBe(bytesOf(other?.payload));
          expect(shapeOf(packet.payload)).toEqual(shapeOf(other?.payload ?? {}));
          expect(packet.token_used).toBe(other?.token_used);
        });
      }),
      { numRuns: 60 },
    );
  });

  test('keeps protocols, order and times of work, and moves the dates', async () => {
    const { header, packets } = await redacted(
      recordingOf({ role: 'user', secret: 4711 }),
      new ImportNotes(),
    );
    const [, asked, answered] = packets;

    expect(asked?.packet.payload).toEqual({
      role: expect.any(String),
      [Object.keys(asked?.packet.payload ?? {})[1] ?? '']: expect.any(Number),
    });
    expect(Object.keys(asked?.packet.payload ?? {})[0]).toBe('role');
    expect(JSON.stringify(packets)).not.toMatch(/secret|4711|user"|177000/);
    expect(answered).toMatchObject({
      cause: asked?.packet.id,
      toolUs: 6,
      packet: { type: 'tools/call.result', reply_to: asked?.packet.id },
    });
    expect(header.agents.map(({ id }) => id.length)).toEqual([5, 4]);
    expect(header.run_id).toBe('redacted');
  });
});

/** Nesting, kinds of values, and keys that protocols have. */
function shapeOf(value: JsonValue): unknown {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value;
  return Object.entries(value).map(([key, inner]: [string, JsonValue]) => [
    PROTOCOL_KEYS.has(key) ? key : '*',
    shapeOf(inner),
  ]);
}
