import { expect, test } from 'vitest';
import { addTool, checkToolOptions } from './registry.ts';

test.each([
  ['python_repl', { python_timeot_s: 3 }, 'no python_timeot_s; it has python_memory_mb, python_timeout_s'],
  ['search', { depth: 2 }, 'the tool search has no depth; it has none'],
  ['critique', { treshold: 6 }, 'no treshold; it has time_s, tool_timeout_s, thresholds'],
])('an option that %s does not read is refused by its name', (tool, options, message) => {
  expect(() => checkToolOptions('clerk', tool, options)).toThrow(`agent clerk: options: `);
  expect(() => checkToolOptions('clerk', tool, options)).toThrow(message);
});

test("a tool's own options are taken, and any of a tool that a user brings", () => {
  const mine = { name: 'mine', description: '', accepts: [], emits: [], run: async () => [] };
  addTool(mine);
  expect(() => checkToolOptions('clerk', 'mine', { depth: 2 })).not.toThrow();
  expect(() => checkToolOptions('clerk', 'answer', { specialty: 'web', iterations: 3 })).not.toThrow();
  expect(() => checkToolOptions('clerk', 'wikipedia', { timeout_ms: 5, retries: 0 })).not.toThrow();
});
