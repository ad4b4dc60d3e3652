import { expect, test } from 'vitest';
import * as z from 'zod';
import { isStrict, withSchema } from './structured.ts';

const strict = (schema: z.ZodType) => isStrict(z.json().parse(z.toJSONSchema(schema)));

test('strict is a schema whose objects are closed and have nothing optional, all the way down', () => {
  const inner = z.object({ b: z.number() });
  expect(strict(z.object({ a: z.array(inner), c: z.union([z.string(), z.null()]) }))).toBe(true);
  expect(strict(z.object({ a: z.array(z.object({ b: z.number().optional() })) }))).toBe(false);
  expect(strict(z.object({ a: z.union([inner, z.looseObject({})]) }))).toBe(false);
  expect(strict(z.record(z.string(), z.number()))).toBe(false);
});

test('the schema is said in the system message, be there one or not', () => {
  const schema = { type: 'object' };
  const told = withSchema([{ role: 'user', content: 'Who?' }], schema);
  expect(told.map(({ role }) => role)).toEqual(['system', 'user']);
  expect(told[0]?.content).toContain('{"type":"object"}');
  expect(withSchema([{ role: 'system', content: 'Be brief.' }], schema)).toHaveLength(1);
});
