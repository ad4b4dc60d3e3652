import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '@gaia-mesh/core/testing/temporary-folder.ts';
import { describe, expect, test } from 'vitest';
import { importTraffic } from '../import-traffic.ts';

/** Failures in the two shapes of the public Who&When set, written by hand for these tests: nothing is taken from the set. */
const generated = {
  is_correct: false,
  question: 'How many lighthouses were lit in 1868?',
  question_ID: 'lamp-1',
  level: '1',
  ground_truth: '3',
  history: [
    { content: 'How many lighthouses were lit in 1868?', role: 'user', name: 'Keeper_Expert' },
    { content: 'I count two.', role: 'assistant', name: 'Counter' },
    { content: 'exitcode: 0', role: 'user', name: 'Computer_terminal' },
    { content: 'So it is two. TERMINATE', role: 'assistant', name: 'Counter' },
  ],
  mistake_agent: 'Counter',
  mistake_step: '1',
  mistake_reason: 'One was left out.',
  system_prompt: { Counter: 'You count.' },
};
const crafted = {
  is_corrected: false,
  question: 'Which ferry is late?',
  question_ID: 'ferry-1',
  groundtruth: 'the second',
  history: [
    { content: 'Which ferry is late?', role: 'human' },
    { content: 'Facts first.', role: 'Orchestrator (thought)' },
    { content: 'Look at the time table.', role: 'Orchestrator (-> WebSurfer)' },
    { content: 'The first is late.', role: 'WebSurfer' },
  ],
  mistake_agent: 'WebSurfer',
  mistake_step: '3',
};

function imported(content: string) {
  const file = path.join(temporaryFolder(), 'failure.json');
  writeFileSync(file, content);
  const { recording, report } = importTraffic(file, null);
  const packets = recording.packets.filter(({ cause }) => cause !== null).map(({ packet }) => packet);
  return { report, packets, said: packets.map(({ from, to, type }) => `${from}>${to} ${type}`) };
}

describe('a failure of the Who&When set', () => {
  test('by an algorithm is a task, and each step a message of the agent that is named', () => {
    const { report, packets, said } = imported(JSON.stringify(generated));
    expect(report).toMatchObject({ format: 'who-and-when', tasks: 1, packets: 5 });
    expect(said).toEqual([
      'Keeper_Expert>Counter message',
      'Counter>Computer_terminal message',
      'Computer_terminal>Counter message',
      'Counter>human message',
    ]);
    expect(packets.map(({ payload }) => payload.step)).toEqual([0, 1, 2, 3]);
    expect(packets[0]?.task_id).toBe('lamp-1');
  });

  test('by hand has its agents and those that they address in the roles', () => {
    expect(imported(JSON.stringify(crafted)).said).toEqual([
      'human>Orchestrator message',
      'Orchestrator>WebSurfer thought',
      'Orchestrator>WebSurfer message',
      'WebSurfer>human message',
    ]);
  });

  test('asks its question first, where the history does not', () => {
    const [first] = imported(JSON.stringify({ ...crafted, history: crafted.history.slice(1) })).packets;
    expect(first).toMatchObject({ type: 'question', payload: { question: 'Which ferry is late?' } });
  });

  test('keeps its label out of the recording, and says so', () => {
    const { report, packets } = imported(JSON.stringify(generated));
    expect(JSON.stringify(packets)).not.toContain('left out');
    expect(report.dropped).toEqual(['labels of failures: 1']);
  });

  test('stands beside others in one file, two of one question as two tasks', () => {
    const { report } = imported(JSON.stringify([generated, crafted, generated]));
    expect(report).toMatchObject({ tasks: 3 });
  });

  test.each([
    ['no history', { ...generated, history: 'text' }],
    ['no step', { ...generated, mistake_step: 'early' }],
    ['no agent', { ...generated, mistake_agent: null }],
  ])('with %s is none', (_what, failure) => {
    expect(() => imported(JSON.stringify({ ...failure, jsonrpc: 1 }))).toThrow(
      'its format was not recognized',
    );
  });

  test('may have steps of any form', () => {
    const history = [null, 'text', { content: { deep: [1] }, role: 7 }, { role: '((((', content: '' }];
    const { packets } = imported(JSON.stringify({ ...generated, history }));
    expect(packets).toHaveLength(5);
  });
});
