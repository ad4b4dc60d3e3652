import { describe, expect, test } from 'vitest';
import { AgentReply } from './agent-reply.ts';

const status = (state: string, text?: string) => ({
  statusUpdate: {
    taskId: 't1',
    contextId: 'c1',
    status: { state, ...(text !== undefined && { message: { parts: [{ text }] } }) },
  },
});
const artifact = (artifactId: string, parts: readonly unknown[], append?: boolean) => ({
  artifactUpdate: { taskId: 't1', contextId: 'c1', artifact: { artifactId, parts }, append },
});
const DONE = status('TASK_STATE_COMPLETED');

/** Returns the reply that an agent's answers and events make. */
function reply(...values: unknown[]): AgentReply {
  const assembled = new AgentReply();
  for (const value of values) assembled.add(value);
  return assembled;
}
const result = (...values: unknown[]) => reply(...values).result();

describe('the state of a reply', () => {
  test.each([
    ['TASK_STATE_SUBMITTED', false, false],
    ['TASK_STATE_WORKING', false, false],
    ['TASK_STATE_INPUT_REQUIRED', true, false],
    ['TASK_STATE_AUTH_REQUIRED', true, false],
    ['TASK_STATE_COMPLETED', true, true],
    ['TASK_STATE_FAILED', true, true],
    ['TASK_STATE_CANCELED', true, true],
    ['TASK_STATE_REJECTED', true, true],
    ['input-required', true, false],
    ['canceled', true, true],
    ['NOT_KNOWN', false, false],
    ['Working', false, false],
  ])('%s is settled: %s, over: %s', (state, isSettled, isOver) => {
    const one = reply(status(state));
    expect({ isSettled: one.isSettled, isOver: one.isOver }).toEqual({ isSettled, isOver });
  });

  test('is none before the first answer, and a message ends it', () => {
    const one = new AgentReply();
    expect(one).toMatchObject({
      isSettled: false,
      isOver: false,
      state: undefined,
      taskId: '',
      contextId: '',
    });
    expect(one.result()).toMatchObject({ state: 'unknown', data: { state: 'unknown' }, progress: '' });
    one.add({ message: { parts: [{ text: 'Paris' }] } });
    expect(one).toMatchObject({ isSettled: true, isOver: true, state: 'MESSAGE', taskId: '', contextId: '' });
  });

  test('comes with the ids of the task and of the conversation, which stay until others come', () => {
    const one = reply({ task: { id: 't1', contextId: 'c1', status: { state: 'TASK_STATE_WORKING' } } });
    expect(one).toMatchObject({ taskId: 't1', contextId: 'c1' });
    one.add(artifact('a', [{ text: 'x' }]));
    one.add({ message: { parts: [{ text: 'Paris' }] } });
    expect(one).toMatchObject({ taskId: 't1', contextId: 'c1' });
    one.add({ message: { parts: [{ text: 'Paris' }], taskId: 't2', contextId: 'c2' } });
    expect(one.result().data).toMatchObject({ task_id: 't2', context_id: 'c2', state: 'MESSAGE' });
    expect(reply(artifact('a', [])).taskId).toBe('t1');
    expect(reply(DONE).taskId).toBe('t1');
  });
});

describe('a part', () => {
  const raw = Buffer.from('Paris').toString('base64');
  test.each<[what: string, part: object, texts: string[], data: object]>([
    ['a text', { text: 'Paris' }, ['Paris'], { text: 'Paris' }],
    ['a text file', { raw, mediaType: 'text/csv' }, ['Paris'], { bytes: 5, media_type: 'text/csv' }],
    [
      'another file',
      { raw, mediaType: 'audio/wav', filename: 'a.wav' },
      ['[file a.wav audio/wav, 5 bytes, which is left out]'],
      { bytes: 5, filename: 'a.wav', media_type: 'audio/wav' },
    ],
    ['a file without a type', { raw }, ['[file  , 5 bytes, which is left out]'], { bytes: 5 }],
    ['an image', { raw, mediaType: 'image/png' }, [], { bytes: 5, media_type: 'image/png' }],
    [
      'a file that only mentions images',
      { raw, mediaType: 'x-image/png' },
      ['[file  x-image/png, 5 bytes, which is left out]'],
      { bytes: 5, media_type: 'x-image/png' },
    ],
    [
      'a link',
      { url: 'https://a.example/', filename: null },
      ['[link https://a.example/, which is not fetched]'],
      { url: 'https://a.example/' },
    ],
    ['data', { data: [1, 'a'] }, ['[1,"a"]'], { data: [1, 'a'] }],
    [
      'a file of 0.3',
      { kind: 'file', file: { uri: 'https://a.example/', name: 'a', mimeType: 'text/html' } },
      ['[link https://a.example/, which is not fetched]'],
      { url: 'https://a.example/', filename: 'a', media_type: 'text/html' },
    ],
  ])('that is %s is shown, and kept as data', (_what, part, texts, data) => {
    const found = result(artifact('a', [part]), DONE);
    expect(found.texts).toEqual(texts);
    expect(found.data.artifacts).toEqual([{ artifact_id: 'a', parts: [data] }]);
    expect(found.images).toHaveLength(texts.length === 0 ? 1 : 0);
    expect(found.lost).toEqual([]);
  });
});

describe('an answer', () => {
  test.each([
    ['nothing', undefined],
    ['null', null],
    ['a text', 'Paris'],
    ['a list', [DONE]],
    ['an object of another kind', { kind: 'card', name: 'x' }],
    ['a task without an id', { task: { status: { state: 'completed' } } }],
    ['a status without a state', { statusUpdate: { taskId: 't', status: {} } }],
    ['a status whose state is no text', { statusUpdate: { taskId: 't', status: { state: 7 } } }],
    ['a message without parts', { message: { parts: [] } }],
    ['an artifact without an id', { artifactUpdate: { taskId: 't', artifact: { parts: [] } } }],
    ['a task inside of no task', { kind: 'task' }],
  ])('that is %s is refused by name', (_what, value) => {
    expect(() => reply(value)).toThrow(
      expect.objectContaining({
        code: 'packet',
        message: expect.stringContaining('A2A: not the answer that was expected'),
      }),
    );
  });
});
