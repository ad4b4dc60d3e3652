import { expect, test } from 'vitest';
import { withSchema } from './in-words.ts';

test('the schema is said in the system message, be there one or not', () => {
  const schema = { type: 'object' };
  const told = withSchema([{ role: 'user', content: 'Who?' }], schema);
  expect(told.map(({ role }) => role)).toEqual(['system', 'user']);
  expect(told[0]?.content).toContain('{"type":"object"}');
  expect(withSchema([{ role: 'system', content: 'Be brief.' }], schema)).toHaveLength(1);
});
