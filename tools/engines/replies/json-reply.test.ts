import { cpuMs } from '@gaia-mesh/core/testing/cpu-time.ts';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { readArguments, readJson } from './json-reply.ts';

const schema = z.object({ a: z.string() });

test.each([
  '{"a":"x"}',
  ' {"a":"x"}\n',
  '```json\n{"a":"x"}\n```',
  '```\n{"a":"x"}\n```  \n',
  '\n```JSON\n{"a":"x"}```',
  'Here: ```json\n{"a":"x"}\n```\nThat is it.',
  '```json\n{"a":"x"}',
  'First {"b":1}, then {"a":"x"}.',
  '{"a":"x",} // done',
  '[{"a":"x"}]',
  '{"reply":{"a":"x"}}',
  'A brace } and "quote, then {"a":"x"} it is',
])('%j is read', (content) => {
  expect(readJson(content, schema)).toEqual({ value: { a: 'x' } });
});

test.each([
  ['', 'not JSON'],
  ['```', 'not JSON'],
  ['{"a":1}', 'a: '],
])('%j is not, with the fault', (content, fault) => {
  expect(readJson(content, schema).fault).toContain(fault);
});

test('a megabyte of line ends is read in no time', () => {
  const startMs = cpuMs();
  expect(readJson(`\`\`\`${'\n'.repeat(1_000_000)}x`, schema).fault).toContain('not JSON');
  expect(cpuMs() - startMs).toBeLessThan(2_000);
});

test.each([
  [{ x: 1 }, { x: 1 }],
  ['{"x":1}', { x: 1 }],
  ['', {}],
  [undefined, {}],
  [null, {}],
  ['[1]', '[1]'],
  ['{"x":', '{"x":'],
  [7, '7'],
  ['{"__proto__":{"y":1},"x":1}', { x: 1 }],
])('arguments %j are %j', (given, read) => {
  const result = readArguments(given);
  expect(result).toEqual(read);
  expect(Object.hasOwn(Object(result), '__proto__')).toBe(false);
});
