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

const NAMED = {
  artifactUpdate: { taskId: 't1', artifact: { artifactId: 'a', name: 'N', parts: [{ text: 'x' }] } },
};
const WORKING = 'TASK_STATE_WORKING';
const image = { raw: Buffer.from('png').toString('base64'), mediaType: 'image/png' };

describe('the parts of a reply', () => {
  test.each<[what: string, events: readonly unknown[], texts: string[], answer: string]>([
    [
      'a chunk continues the text',
      [artifact('a', [{ text: 'Pa' }]), artifact('a', [{ text: 'ris' }], true)],
      ['Paris'],
      'Paris',
    ],
    [
      'an artifact that comes again replaces the first',
      [artifact('a', [{ text: 'x' }]), artifact('a', [{ text: 'y' }])],
      ['y'],
      'y',
    ],
    ['nothing before is continued by a whole', [artifact('a', [{ text: 'x' }], true)], ['x'], 'x'],
    [
      'another artifact is not continued',
      [artifact('a', [{ text: 'x' }]), artifact('b', [{ text: 'y' }], true)],
      ['x', 'y'],
      'y',
    ],
    ['an empty chunk adds nothing', [artifact('a', [{ text: 'x' }]), artifact('a', [], true)], ['x'], 'x'],
    [
      'a file of text is a part of its own',
      [artifact('a', [{ text: 'x' }]), artifact('a', [{ text: 'y', filename: 'f' }], true)],
      ['x', 'y'],
      'x\ny',
    ],
    [
      'data end a text',
      [artifact('a', [{ text: 'x' }]), artifact('a', [{ data: 1 }], true)],
      ['x', '1'],
      'x',
    ],
    [
      'a text behind data is one of its own',
      [artifact('a', [{ data: 1 }]), artifact('a', [{ text: 'y' }], true)],
      ['1', 'y'],
      'y',
    ],
    [
      'only the first text of a chunk continues',
      [artifact('a', [{ text: 'x' }]), artifact('a', [{ text: 'y' }, { text: 'z' }], true)],
      ['xy', 'z'],
      'xy\nz',
    ],
    [
      'the last artifact with words is the answer',
      [artifact('a', [{ text: 'x' }]), artifact('b', [{ text: 'y' }]), artifact('c', [{ text: ' ' }])],
      ['x', 'y', ' '],
      'y',
    ],
    [
      'the words of an artifact of data alone are its data',
      [artifact('a', [{ data: { b: 1 } }])],
      ['{"b":1}'],
      '{"b":1}',
    ],
    [
      'the message of a finished task is no part of its artifact',
      [artifact('a', [{ text: 'x' }]), status('TASK_STATE_COMPLETED', 'bye')],
      ['x'],
      'x',
    ],
    [
      'that of a task that failed is',
      [artifact('a', [{ text: 'x' }]), status('TASK_STATE_FAILED', 'why')],
      ['x', 'why'],
      'x',
    ],
    [
      'it is the answer where there is no artifact',
      [status('TASK_STATE_COMPLETED', 'Paris')],
      ['Paris'],
      'Paris',
    ],
    [
      'it is the answer where no artifact has words',
      [artifact('a', [{ text: ' ' }]), status('TASK_STATE_COMPLETED', 'Paris')],
      [' ', 'Paris'],
      ' \nParis',
    ],
    [
      'an image is an answer without words',
      [artifact('a', [image]), status('TASK_STATE_COMPLETED', 'bye')],
      [],
      '',
    ],
    [
      'half a character is completed by the next chunk',
      [artifact('a', [{ text: '\ud83d' }]), artifact('a', [{ text: '\ude00' }], true)],
      ['😀'],
      '😀',
    ],
    ['parts may be one, and not a list', [{ message: { parts: { text: 'x' } } }], ['x'], 'x'],
    [
      'a task brings its artifacts, whatever else it has',
      [
        {
          task: {
            id: 't1',
            contextId: 'c1',
            status: { state: 'completed' },
            artifacts: [{ artifactId: 'a', parts: [{ kind: 'text', text: 'x' }], metadata: { parts: 7 } }],
            history: [{ parts: 7 }],
          },
        },
      ],
      ['x'],
      'x',
    ],
    [
      'the state of a task is that of its last event',
      [
        artifact('a', [{ text: 'x' }]),
        {
          task: {
            id: 't1',
            contextId: 'c1',
            status: { state: 'failed', message: { parts: [{ text: 'why' }], role: 'agent' } },
            artifacts: null,
          },
        },
      ],
      ['x', 'why'],
      'x',
    ],
  ])('%s', (_what, events, texts, answer) => {
    const found = result(
      ...events,
      ...(events.some((one) => JSON.stringify(one).includes('state')) ? [] : [DONE]),
    );
    expect({ texts: found.texts, answer: found.data.answer, lost: found.lost }).toEqual({
      texts,
      answer,
      lost: [],
    });
  });

  test('that are words of a task at work are its progress, the last ones that said something', () => {
    const events = [
      status(WORKING, 'one'),
      {
        statusUpdate: {
          taskId: 't1',
          status: { state: WORKING, message: { parts: [{ text: 'two' }, { data: 1 }, { text: 'three' }] } },
        },
      },
    ];
    const silent = { statusUpdate: { taskId: 't1', status: { state: WORKING, message: { parts: [] } } } };
    const found = result(...events, silent, status(WORKING), status('TASK_STATE_COMPLETED', 'end'));
    expect([found.progress, found.texts]).toEqual(['two three', ['end']]);
  });

  test('have the name of their artifact, if it has one', () => {
    expect(result(NAMED, DONE).data.artifacts).toEqual([
      { artifact_id: 'a', name: 'N', parts: [{ text: 'x' }] },
    ]);
    const unnamed = { artifactUpdate: { taskId: 't1', artifact: { artifactId: 'a', name: '', parts: [] } } };
    expect(result(unnamed, DONE).data.artifacts).toEqual([{ artifact_id: 'a', parts: [] }]);
  });

  test('that cannot be kept are named, and cost no others', () => {
    const wrong = { text: 'x'.repeat(100), url: 'https://a.example/' };
    const found = result(artifact('a', [wrong, { text: 'y\ud83d' }]), DONE);
    expect(found.texts).toEqual(['y\ufffd']);
    expect(found.lost).toEqual([
      `a part ${JSON.stringify(wrong).slice(0, 80)} has none of text, raw, url and data, or several`,
      'half a character of a text became U+FFFD',
    ]);
  });
});
