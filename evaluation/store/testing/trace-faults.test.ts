import { expect, test } from 'vitest';
import { sampleAttempt } from './samples.ts';
import { traceFaults } from './trace-faults.ts';

test('a trace that tells plan, work and break is complete (OV-37)', () => {
  expect(traceFaults(sampleAttempt())).toEqual([]);
});

test('a correct attempt has no break to tell (OV-37)', () => {
  expect(
    traceFaults(sampleAttempt({ correct: true, resolution_type: 'correct', overseer_diagnosis: null })),
  ).toEqual([]);
});

test('where no true answer is known nobody can tell the break (OV-37)', () => {
  expect(
    traceFaults(sampleAttempt({ correct: null, resolution_type: null, overseer_diagnosis: null })),
  ).toEqual([]);
});

test.each([
  ['no plan', { pm_plan: null }, 'what did the PM plan'],
  ['an empty plan', { pm_plan: {} }, 'what did the PM plan'],
  ['no trace', { trace: [] }, 'what did main do'],
  [
    'fewer steps than tool calls',
    { trace: [{ step: 'tool' }], tool_calls: [{ a: 1 }, { b: 2 }] },
    '1 steps for 2 tool calls',
  ],
  ['no diagnosis', { overseer_diagnosis: null }, 'where did the chain break'],
  ['a diagnosis of spaces', { overseer_diagnosis: ' \n' }, 'where did the chain break'],
])('%s is a fault that is named (OV-37)', (_, change, words) => {
  expect(traceFaults(sampleAttempt(change))).toEqual([expect.stringContaining(words)]);
});

test('every fault is named (OV-37)', () => {
  expect(traceFaults(sampleAttempt({ pm_plan: null, trace: [], overseer_diagnosis: null }))).toHaveLength(3);
});
