import { cpuMs } from '@gaia-mesh/core/testing/cpu-time.ts';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { buildToolCalls, readJson } from './json-reply.ts';

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
  ['{"a":{}}', 'a: '],
])('%j is not, with the fault', (content, fault) => {
  expect(readJson(content, schema).fault).toContain(fault);
});

const remarks = z.array(z.string()).default([]);
const critique = z.object({
  quality: z.number().min(0).max(10),
  relevance: z.number().min(0).max(10),
  missing: remarks,
  weaknesses: remarks,
});
const part = z.object({
  task: z.string().min(1),
  tool: z.string().default(''),
  looks_up: z.boolean().default(false),
  uses: z.array(z.int().positive()).default([]),
});
const steps = z.object({ steps: z.array(part).min(1), looks_up: z.boolean().nullable().default(null) });
const route = z.object({ type: z.enum(['web', 'code', 'math']) });
const stated = z.object({ sentence: z.int().default(99), answer: z.string() });
const bare = { tool: '', looks_up: false, uses: [] };

test.each([
  [
    critique,
    '{"quality":"8/10","relevance":"high","missing":"nothing is missing","weaknesses":null}',
    [8, 8, [], []],
  ],
  [critique, '{"quality":"85%","relevance":"9 out of 10","missing":["none"]}', [8.5, 9, [], []]],
  [
    critique,
    '{"Quality":"very good","Relevance":"7,5","missing":["No parts of the question are missing."]}',
    [10, 7.5, [], []],
  ],
  [
    critique,
    '{"quality":90,"relevance":"low","missing":"The year is missing","weaknesses":["No step checks the sum."]}',
    [9, 3, ['The year is missing'], ['No step checks the sum.']],
  ],
  [critique, '{"quality":8,"relevance":8,"weaknesses":[{"problem":"wrong sum"}]}', [8, 8, [], ['wrong sum']]],
  [
    steps,
    '{"steps":["Read the file","Sum"]}',
    [
      [
        { task: 'Read the file', ...bare },
        { task: 'Sum', ...bare },
      ],
      null,
    ],
  ],
  [
    steps,
    '{"steps":"1. Read the file\\n2. Sum","looks_up":"true"}',
    [
      [
        { task: 'Read the file', ...bare },
        { task: 'Sum', ...bare },
      ],
      true,
    ],
  ],
  [
    steps,
    '{"steps":[{"task":"Sum","tool":null,"looksUp":"yes","uses":"1, 2"}],"looks_up":null}',
    [[{ task: 'Sum', tool: '', looks_up: true, uses: [1, 2] }], null],
  ],
  [
    steps,
    '{"plan":{"steps":{"1":{"task":"Sum","uses":["step 1"]}}}}',
    [[{ task: 'Sum', ...bare, uses: [1] }], null],
  ],
  ...[
    'My plan:\n\n1. Read the file\n2. **Sum**\n\nThat is all.',
    '- Read the file\n* Sum',
    '**Step 1:** Read the file\n**Step 2:** Sum',
  ].map((content): [typeof steps, string, unknown[]] => [
    steps,
    content,
    [['Read the file', 'Sum'].map((task) => ({ task, ...bare })), null],
  ]),
  [route, '{"type":"Web"}', ['web']],
  [route, 'The question is for the math specialist.', ['math']],
  [stated, '{"sentence":"3","answer":42}', [3, '42']],
  [stated, '{"sentence":null,"answer":"x"}', [99, 'x']],
  [stated, 'FINAL ANSWER - 42', [99, '42']],
])('what is right but for its form is read: %#', (wanted, content, read) => {
  const { value } = Object(readJson(content, wanted));
  expect(Object.keys(wanted.shape).map((key) => value?.[key])).toEqual(read);
});

test.each([
  [critique, '{"hello":1}'],
  [critique, '{"quality":"blue","relevance":8}'],
  [steps, '{"steps":[]}'],
  [steps, '{"hello":"Read the file"}'],
  [steps, 'I would read the file and add the numbers up.'],
  [steps, '1. Nothing else in it is a list'],
  [route, 'web or math'],
  [stated, '{"answer":null}'],
  [stated, 'It may be 42.'],
])('what has nothing usable in it is not: %#', (wanted, content) => {
  expect(readJson(content, wanted).fault).toBeDefined();
});

test.each([
  [
    critique,
    '{"quality":7,"relevance":9,"missing":[],"weaknesses":["vague","vague","no sour',
    [[], ['vague']],
  ],
  [critique, 'Marks: {"quality":7,"relevance":9,"missing":["the \\"year\\"","', [['the "year"'], []]],
  [
    steps,
    '{"steps":[{"task":"Read ]","uses":[]},{"task":"Sum","uses":[1',
    [[{ task: 'Read ]', ...bare }], null],
  ],
])('a reply that was cut off in a list has the whole items before the cut: %#', (wanted, content, read) => {
  const { value, isCut } = Object(readJson(content, wanted));
  expect(isCut).toBe(true);
  expect(
    Object.keys(wanted.shape)
      .map((key) => value?.[key])
      .slice(-read.length),
  ).toEqual(read);
});

test.each([
  [critique, '{"quality":7,"relevance":9,"missing":["the ye'],
  [critique, '{"quality":7,"relevance":9,"missing":[],"weaknesses'],
  [critique, '{"quality":7,"relevance":'],
  [steps, '{"steps":[{"task":"Sum","uses":['],
  [stated, '{"sentence":1,"answer":"An'],
  [stated, `{"sentence":${'['.repeat(100_000)}`],
])('a reply that was cut off elsewhere is not used: %#', (wanted, content) => {
  expect(readJson(content, wanted).fault).toBeDefined();
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
  ['"{\\"x\\":1}"', { x: 1 }],
  [JSON.stringify(JSON.stringify('{"x":1}')), { x: 1 }],
  ['{"x":', '{"x":'],
  [7, '7'],
  ['{"__proto__":{"y":1},"x":1}', { x: 1 }],
])('arguments %j are %j', (given, read) => {
  const [call] = buildToolCalls([{ name: 'add', arguments: given }], 0);
  const result = call?.arguments;
  expect(result).toEqual(read);
  expect(Object.hasOwn(Object(result), '__proto__')).toBe(false);
});
