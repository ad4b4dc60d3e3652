import fc from 'fast-check';
import * as library from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, test } from 'vitest';
import { o200k as own } from './o200k.ts';

const AS_TEXT = { disallowedSpecial: new Set<string>() };

/** Words of all kinds, and runs of them that are merged by search (short) and by heap (long). */
const word = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.string({ unit: 'binary', maxLength: 10 }),
  fc.constantFrom(
    ' ',
    '\n',
    '\r\n',
    '\t',
    "'ll",
    '<|im_end|>',
    '12345',
    'The',
    'quick',
    '漢字',
    '😀',
    'é',
    '\ud800',
  ),
);
const run = fc
  .tuple(
    fc.oneof(word, fc.constantFrom('x', 'ab', '=', '0', 'é', '漢', '😀')),
    fc.integer({ min: 1, max: 300 }),
  )
  .map(([unit, times]) => unit.repeat(times).slice(0, 400));
const text = fc
  .array(fc.oneof({ weight: 4, arbitrary: word }, run), { maxLength: 8 })
  .map((parts) => parts.join(''));

describe('the tokens of a text in o200k_base', () => {
  test('are as many as the published package counts', () => {
    fc.assert(
      fc.property(text, (any) => {
        expect(own.count(any)).toBe(library.encode(any, AS_TEXT).length);
      }),
      { numRuns: 400 },
    );
  });

  test('are in pieces that join to the text, each token in one', () => {
    fc.assert(
      fc.property(text, (any) => {
        const pieces = [...own.pieces(any)];
        expect(pieces.map((piece) => piece.text).join('')).toBe(any);
        expect(pieces.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(own.count(any));
        expect(pieces.map((piece) => piece.text.toWellFormed())).toEqual([
          ...library.decodeGenerator(library.encode(any, AS_TEXT)),
        ]);
      }),
      { numRuns: 200 },
    );
  });
});

test('the tokens of a long repetitive text are those that its parts show', () => {
  // The published package would take half an hour for it.
  expect(own.count('x'.repeat(1_000_000))).toBe(
    Math.round((library.encode('x'.repeat(8_000), AS_TEXT).length * 1_000_000) / 8_000),
  );
});
