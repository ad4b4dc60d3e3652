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

describe('the answer of a reply', () => {
  test('is the last artifact with words; all artifacts are in the data and in the texts', () => {
    const { texts, data } = result(
      artifact('draft', [{ text: 'London' }]),
      artifact('final', [{ text: 'Paris' }, { text: 'France' }]),
      artifact('blank', [{ text: ' \n' }]),
      artifact('log', []),
      DONE,
    );
    expect(texts).toEqual(['London', 'Paris', 'France', ' \n']);
    expect(data).toEqual({
      state: 'TASK_STATE_COMPLETED',
      task_id: 't1',
      context_id: '',
      answer: 'Paris\nFrance',
      artifacts: [
        { artifact_id: 'draft', parts: [{ text: 'London' }] },
        { artifact_id: 'final', parts: [{ text: 'Paris' }, { text: 'France' }] },
        { artifact_id: 'blank', parts: [{ text: ' \n' }] },
        { artifact_id: 'log', parts: [] },
      ],
    });
  });

  test('has of an artifact with texts its texts alone, of another one what can be shown of it', () => {
    const mixed = [{ data: { n: 1 } }, { text: 'Paris' }, { url: 'https://a.example/' }];
    expect(result(artifact('a', mixed), DONE)).toMatchObject({
      texts: ['{"n":1}', 'Paris', '[link https://a.example/, which is not fetched]'],
      data: { answer: 'Paris' },
    });
    expect(result(artifact('a', [{ data: { n: 1 } }, { data: 2 }]), DONE).data.answer).toBe('{"n":1}\n2');
  });

  test.each([
    ['TASK_STATE_COMPLETED', ['Paris'], 'Paris'],
    ['TASK_STATE_FAILED', ['Paris', 'no more money'], 'Paris'],
    ['TASK_STATE_INPUT_REQUIRED', ['Paris', 'no more money'], 'Paris'],
  ])('that is an artifact has the message at the end unless the task was %s', (state, texts, answer) => {
    expect(result(artifact('a', [{ text: 'Paris' }]), status(state, 'no more money'))).toMatchObject({
      texts,
      data: { answer },
    });
  });

  test('is the message at the end where no artifact has words or an image', () => {
    expect(result(artifact('a', []), status('TASK_STATE_COMPLETED', 'Paris'))).toMatchObject({
      texts: ['Paris'],
      data: { answer: 'Paris' },
    });
    const image = { raw: Buffer.from('png').toString('base64'), mediaType: 'image/png' };
    expect(result(artifact('a', [image]), status('TASK_STATE_COMPLETED', 'Here it is'))).toMatchObject({
      texts: [],
      images: [Buffer.from('png')],
      data: { answer: '' },
    });
  });

  test('has no words of a task that works on; its last ones are the progress', () => {
    const { texts, progress } = result(
      status('TASK_STATE_WORKING', 'looking'),
      {
        statusUpdate: {
          taskId: 't1',
          status: {
            state: 'TASK_STATE_WORKING',
            message: { parts: [{ text: 'half \ud83d' }, { data: 1 }, { text: 'done' }] },
          },
        },
      },
      status('TASK_STATE_WORKING'),
      DONE,
    );
    expect({ texts, progress }).toEqual({ texts: [], progress: 'half \ufffd done' });
  });

  test('keeps the words of the end when a later status has none', () => {
    expect(result(status('TASK_STATE_COMPLETED', 'Paris'), DONE).texts).toEqual(['Paris']);
  });
});

describe('chunks of an artifact', () => {
  test('that are appended continue the last text, and only that', () => {
    const { data } = result(
      artifact('a', [{ text: 'Pa' }]),
      artifact('a', [{ text: 'ri' }, { text: 'and' }], true),
      artifact('a', [], true),
      artifact('a', [{ text: ' more' }], true),
      artifact('a', [{ data: 1 }], true),
      artifact('a', [{ text: 'after data' }], true),
      artifact('a', [{ text: 'a file', filename: 'a.txt' }], true),
      DONE,
    );
    expect(data.artifacts).toEqual([
      {
        artifact_id: 'a',
        parts: [
          { text: 'Pari' },
          { text: 'and more' },
          { data: 1 },
          { text: 'after data' },
          { text: 'a file', filename: 'a.txt' },
        ],
      },
    ]);
  });

  test('that are not appended replace it, and appended ones of an unknown artifact begin it', () => {
    const { texts } = result(
      artifact('a', [{ text: 'London' }]),
      artifact('a', [{ text: 'Paris' }]),
      artifact('b', [{ text: 'France' }], true),
      DONE,
    );
    expect(texts).toEqual(['Paris', 'France']);
  });

  test('of a task that is sent whole take the place of what was streamed', () => {
    const artifacts = [{ artifactId: 'a', name: 'answer', parts: [{ text: 'Paris' }] }];
    const { texts, data } = result(artifact('a', [{ text: 'London' }]), {
      task: { id: 't1', contextId: 'c1', status: { state: 'TASK_STATE_COMPLETED' }, artifacts },
    });
    expect(texts).toEqual(['Paris']);
    expect(data.artifacts).toEqual([{ artifact_id: 'a', name: 'answer', parts: [{ text: 'Paris' }] }]);
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

  test('that cannot be read costs itself alone, and is named', () => {
    const long = { none: 'x'.repeat(200) };
    const { texts, lost } = result(artifact('a', [{ text: 'Paris' }, long, { text: 'a', data: 1 }, 7]), DONE);
    expect(texts).toEqual(['Paris']);
    expect(lost).toEqual([
      `a part ${JSON.stringify(long).slice(0, 80)} has none of text, raw, url and data, or several`,
      'a part {"text":"a","data":1} has none of text, raw, url and data, or several',
      'a part 7 has none of text, raw, url and data, or several',
    ]);
  });

  test('alone in place of a list is one of a list', () => {
    expect(result({ message: { parts: { text: 'Paris' } } }).texts).toEqual(['Paris']);
  });

  test('with half a character has the mark of it, in all that is kept', () => {
    const halves = {
      message: {
        parts: [{ text: 'a\ud83d' }, { raw: 'AAAA', filename: 'f\ud83d', mediaType: 'm\ud83d' }],
      },
    };
    expect(result(halves)).toMatchObject({
      texts: ['a\ufffd', expect.stringContaining('left out')],
      lost: ['half a character of a text became U+FFFD'],
    });
    const found = result(
      {
        artifactUpdate: {
          taskId: 't1',
          artifact: {
            artifactId: 'i\ud83d',
            name: 'n\ud83d',
            parts: [
              { text: 't\ud83d' },
              { url: 'u\ud83d' },
              { raw: 'AAAA', filename: 'f\ud83d', mediaType: 'm\ud83d' },
              { data: 'd\ud83d' },
            ],
          },
        },
      },
      DONE,
    );
    expect(found.data).toMatchObject({
      answer: 't\ufffd',
      artifacts: [
        {
          artifact_id: 'i\ufffd',
          name: 'n\ufffd',
          parts: [
            { text: 't\ufffd' },
            { url: 'u\ufffd' },
            { bytes: 3, filename: 'f\ufffd', media_type: 'm\ufffd' },
            { data: 'd\ufffd' },
          ],
        },
      ],
    });
    expect(found.lost).toEqual([
      'half a character of a text became U+FFFD',
      expect.stringMatching(/^data\..*half a character/),
    ]);
  });

  test('of a name that is empty or no text has none', () => {
    for (const name of ['', 7, null])
      expect(
        result({ artifactUpdate: { taskId: 't', artifact: { artifactId: 'a', name, parts: [] } } }).data
          .artifacts,
      ).toEqual([{ artifact_id: 'a', parts: [] }]);
  });
});

describe('an answer', () => {
  test.each([
    ['of 0.3 that is a task', { kind: 'task', id: 't', contextId: 'c', status: { state: 'completed' } }],
    ['of 0.3 that is a status', { kind: 'status-update', taskId: 't', status: { state: 'completed' } }],
    [
      'with members that no reader needs',
      {
        task: {
          id: 't',
          kind: 'task',
          contextId: 'c',
          metadata: 7,
          history: 7,
          artifacts: 7,
          status: { state: 'completed', timestamp: null },
        },
      },
    ],
    [
      'with a message without parts at its end',
      { task: { id: 't', status: { state: 'TASK_STATE_COMPLETED', message: { parts: [] } } } },
    ],
  ])('%s is understood', (_what, value) => {
    expect(reply(value)).toMatchObject({ state: 'TASK_STATE_COMPLETED', taskId: 't' });
    expect(result(value)).toMatchObject({ texts: [], lost: [] });
  });

  test.each([['USER'], ['agent'], ['ROLE_AGENT'], [undefined], [7]])(
    'with a message of the role %j is understood',
    (role) => {
      expect(result({ message: { role, messageId: null, parts: [{ text: 'Paris' }] } }).texts).toEqual([
        'Paris',
      ]);
      expect(result({ kind: 'message', role, parts: [{ kind: 'text', text: 'Paris' }] }).texts).toEqual([
        'Paris',
      ]);
    },
  );

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
