import { expect, test } from 'vitest';
import { nameAgent } from './format.ts';

test('an agent with a tool of its own name is named once', () => {
  expect(nameAgent({ id: 'read_file', tool: 'read_file' })).toBe('read_file');
  expect(nameAgent({ id: '0', tool: 'search' })).toBe('0 search');
});
