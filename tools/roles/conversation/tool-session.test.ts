import { expect, test } from 'vitest';
import * as z from 'zod';
import { dataTools } from '../../data-tools.ts';
import { splitReason, toolDefinitions } from './tool-session.ts';

const partners = Object.keys(dataTools).map((tool) => ({ id: tool, tool }));

test('every data tool but the store is an object of arguments with a reason, as servers take it (RA-25, REQ-024)', async () => {
  const definitions = await toolDefinitions(partners);

  expect(definitions.map(({ name }) => name).sort()).toEqual(
    Object.keys(dataTools)
      .filter((name) => name !== 'gap_store')
      .sort(),
  );
  for (const { name, description, parameters } of definitions) {
    expect(name).toMatch(/^[\w-]{1,64}$/);
    expect(description.length).toBeGreaterThan(20);
    expect(parameters).toMatchObject({
      type: 'object',
      properties: { reason: { type: 'string' } },
      required: expect.arrayContaining(['reason']),
    });
    expect(parameters).not.toHaveProperty('$schema');
  }
});

test('no data tool has an argument of its own that is named like the reason', async () => {
  for (const [name, { load, needs }] of Object.entries(dataTools)) {
    // The store is no model's.
    if (needs?.store === true) continue;
    const { input } = await load();
    const schema = JSON.stringify(z.toJSONSchema(input, { io: 'input' }));
    expect({ name, hasReason: schema.includes('"reason":') }).toEqual({ name, hasReason: false });
  }
});

test('agents without a data tool are no tools of a model, and a tool of two agents is one', async () => {
  const definitions = await toolDefinitions([
    { id: 'planner', tool: 'plan' },
    { id: 'a', tool: 'calculator' },
    { id: 'b', tool: 'calculator' },
  ]);

  expect(definitions.map(({ name }) => name)).toEqual(['calculator']);
});

test.each([
  [{ reason: 'to know', file: 'a' }, 'to know', { file: 'a' }],
  [{ file: 'a' }, '', { file: 'a' }],
  [{ reason: 7, file: 'a' }, '', { file: 'a' }],
])('the reason is taken out of the arguments: %j', (given, reason, args) => {
  expect(splitReason(given)).toEqual({ reason, args });
});
