import { expect, test } from 'vitest';
import { keyVariables } from '../keys.ts';
import { describeEngine, describeEngineNeeds, engineNames, serverKeys, serverNames } from './registry.ts';

test.each(engineNames)('%s is described in a line, and an agent with it may what it needs', (name) => {
  expect(describeEngine(name)).toMatch(/^\S.{10,98}$/);
  expect(describeEngineNeeds(name).network).toBe(serverNames.includes(name));
});

test('the variable of each key is loaded from .env, and named by list and by what an agent may read', () => {
  for (const { variable } of serverKeys) {
    expect(keyVariables).toContain(variable);
    const name = serverNames.find((server) => describeEngine(server).includes(variable)) ?? '';
    expect(describeEngineNeeds(name).environment).toContain(variable);
  }
});
