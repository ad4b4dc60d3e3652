import fc from 'fast-check';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { grammarFault } from '../../fixtures/llama-grammar.ts';
import { buildSchema, isStrict, toPortableSchema } from './portable-schema.ts';

test('types, alternatives, names, words and small bounds are sent; patterns, formats, lengths and large bounds stay here', () => {
  const schema = z.strictObject({
    pages: z
      .string()
      .max(200)
      .regex(/^\s*\d+$/)
      .describe('like 2-4'),
    kind: z.enum(['a', 'b']),
    count: z.int().min(1).max(20),
    rows: z.int().min(1).max(5_000_000),
    parts: z.array(z.union([z.string(), z.null()])).max(2_000),
    few: z.array(z.url()).min(1).max(5).optional(),
  });
  expect(buildSchema(schema)).toEqual({
    type: 'object',
    properties: {
      pages: { type: 'string', description: 'like 2-4' },
      kind: { type: 'string', enum: ['a', 'b'] },
      count: { type: 'integer', minimum: 1, maximum: 20 },
      rows: { type: 'integer', minimum: 1 },
      parts: { type: 'array', items: { type: ['string', 'null'] } },
      few: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 5 },
    },
    required: ['pages', 'kind', 'count', 'rows', 'parts'],
    additionalProperties: false,
  });
});

test('a property may be named like a keyword', () => {
  const schema = { type: 'object', properties: { pattern: { type: 'string', pattern: '^\\s$' } } };
  expect(toPortableSchema(schema)).toEqual({ type: 'object', properties: { pattern: { type: 'string' } } });
});

/** Schemas as zod may write them, with the hardest constraints on a text, a number or a list. */
const worst: fc.Memo<z.ZodType> = fc.memo((depth) =>
  depth <= 1
    ? fc.constantFrom<z.ZodType>(
        z
          .string()
          .regex(/^\s*\w+(?=x)\b/)
          .max(9_000),
        z.email(),
        z.iso.datetime(),
        z.number().gt(0).multipleOf(5),
        z.int().max(1_000_000),
        z.boolean().default(true),
        z.literal(['x', 1]),
      )
    : fc.oneof(
        fc.array(worst(depth - 1), { minLength: 1, maxLength: 3 }).map((parts) => z.union(parts)),
        worst(depth - 1).map((part) => z.array(part).max(5_000).min(3_000)),
        fc.dictionary(fc.string(), worst(depth - 1), { maxKeys: 3 }).map((shape) => z.looseObject(shape)),
        worst(depth - 1).map((part) => z.record(z.string(), part)),
      ),
);

test('whatever a schema asks for, llama.cpp makes a grammar of what is sent', () => {
  fc.assert(
    fc.property(worst(4), (schema) => {
      expect(grammarFault(buildSchema(schema, 'input'))).toBeUndefined();
    }),
    { numRuns: 300 },
  );
});

const strict = (schema: z.ZodType) => isStrict(z.json().parse(z.toJSONSchema(schema)));

test('strict is a schema whose objects are closed and have nothing optional, all the way down', () => {
  const inner = z.object({ b: z.number() });
  expect(strict(z.object({ a: z.array(inner), c: z.union([z.string(), z.null()]) }))).toBe(true);
  expect(strict(z.object({ a: z.array(z.object({ b: z.number().optional() })) }))).toBe(false);
  expect(strict(z.object({ a: z.union([inner, z.looseObject({})]) }))).toBe(false);
  expect(strict(z.record(z.string(), z.number()))).toBe(false);
});
