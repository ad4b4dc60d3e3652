import { expect, test } from 'vitest';
import { keyVariables } from '../keys.ts';
import { describeEngine, engineNames, serverKeys } from './registry.ts';

test.each(engineNames)('%s is described in a line, and an agent with it may what it needs', (name) => {
  const { summary, network } = describeEngine(name);
  expect(summary).toMatch(/^\S.{10,98}$/);
  expect(network).toBe(!['extractive', 'recorded'].includes(name));
});

test('the variable of each key is loaded from .env, and named by list and by what an agent may read', () => {
  for (const { variable } of serverKeys) {
    expect(keyVariables).toContain(variable);
    const own = engineNames.map(describeEngine).find(({ summary }) => summary.includes(variable));
    expect(own?.environment).toContain(variable);
  }
});
