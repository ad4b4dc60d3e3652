import { Random } from '@gaia-mesh/core/system/random.ts';
import { expect, test } from 'vitest';
import { priceTools } from './tool-prices.ts';

const countCharacters = (texts: readonly string[]) => texts.map((text) => text.length);
const list = (tools: readonly unknown[]) => JSON.stringify(tools).length;

const note = 'A sentence that stands in the descriptions of several tools.';
const tool = (name: string, more: object = {}) => ({
  name,
  description: note,
  inputSchema: { type: 'object', title: name, properties: { a: { type: 'string', title: 'A' } } },
  ...more,
});

test('the savings are what the shortest list has less than the given one, whatever tools are in it', async () => {
  const random = new Random(3);
  const parts = [
    { title: 'T' },
    { annotations: { readOnlyHint: true } },
    { outputSchema: { type: 'object' } },
    { inputSchema: { type: 'object', additionalProperties: false, $defs: { Unused: { type: 'null' } } } },
    {
      inputSchema: {
        type: 'object',
        required: [],
        properties: { b: { type: ['integer', 'null'], default: null } },
      },
    },
  ];
  for (let round = 0; round < 30; round++) {
    const tools = Array.from({ length: 1 + (round % 5) }, (_, index) =>
      tool(`t${index}`, Object.assign({}, ...parts.filter(() => random.uniform() < 0.4))),
    );
    const { tokens, savings } = await priceTools(tools, countCharacters);
    expect(tokens).toBe(list(tools));
    const saved = savings.reduce((sum, saving) => sum + saving.tokens, 0);
    expect(saved).toBeGreaterThan(0);
    expect(savings.every((saving) => saving.tokens > 0)).toBe(true);
    // Nothing of the names and descriptions goes.
    expect(tokens - saved).toBeGreaterThan(tools.length * note.length);
    expect(saved).toBeLessThan(tokens);
  }
});

test('what is repeated costs all its copies but one', async () => {
  const { duplicates } = await priceTools(
    [tool('a'), tool('b'), tool('c', { description: 'Another.' })],
    countCharacters,
  );
  const property = JSON.stringify({ a: { type: 'string', title: 'A' } }).length - 2;
  expect(duplicates).toEqual([
    { what: 'the property a', tools: ['a', 'b', 'c'], tokens: 2 * property },
    { what: 'a description', tools: ['a', 'b'], tokens: note.length },
  ]);
});
