import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { WorkEvent } from '@gaia-mesh/stacks/a2a/work.ts';
import { describe, expect, it, test, vi } from 'vitest';
import { attemptOf } from '../batch/testing/results.ts';
import { type Answer, type AskRequest, toAnswer } from './ask.ts';
import { askWork, buildTeamCard } from './ask-work.ts';

const answered: Answer = {
  answer: 'Paris',
  status: 'answered',
  task_id: 'ask-1',
  elapsed_ms: 1,
  packets: 2,
  bytes: 3,
  tokens: 4,
  model_calls: 5,
  cost_usd: 6,
};

type Ask = Parameters<typeof askWork>[0]['ask'];

/** Lets the agent work on a message, and returns the question to the team and the reported events. */
async function work(parts: readonly object[], ask: Ask = async () => answered) {
  const asked = vi.fn<Ask>(ask);
  const events: WorkEvent[] = [];
  const { signal } = new AbortController();
  const message = { messageId: 'm', role: 'ROLE_USER' as const, parts: parts.map((part) => ({ ...part })) };
  await askWork({ ask: asked })({ message, taskId: 't', contextId: 'c', signal }, (event) =>
    events.push(event),
  );
  const request: AskRequest | undefined = asked.mock.calls[0]?.[0];
  const said = events.flatMap((event) =>
    event.kind === 'status' ? [[event.state, event.message?.parts[0]?.text]] : [],
  );
  return { request, events, said, signal: asked.mock.calls[0]?.[1], given: signal };
}

const raw = (text: string) => Buffer.from(text).toString('base64');

describe('a message', () => {
  it.each<[what: string, parts: object[], request: AskRequest]>([
    ['its texts are the question', [{ text: 'Who' }, { text: 'is it?' }], { question: 'Who\nis it?' }],
    [
      'a text with a file name is a document',
      [{ text: 'Q' }, { text: 'D', filename: 'd.txt' }],
      { question: 'Q', document: 'D' },
    ],
    ['a text with an empty file name is none', [{ text: 'Q', filename: '' }], { question: 'Q' }],
    [
      'a file of text is a document',
      [{ text: 'Q' }, { raw: raw('é'), mediaType: 'text/plain' }],
      { question: 'Q', document: 'é' },
    ],
    [
      'a file of Markdown is one',
      [{ text: 'Q' }, { raw: raw('# D'), mediaType: 'text/markdown' }],
      { question: 'Q', document: '# D' },
    ],
    ['a file of no type is text', [{ text: 'Q' }, { raw: raw('D') }], { question: 'Q', document: 'D' }],
    ['data have both', [{ data: { question: 'Q', document: 'D' } }], { question: 'Q', document: 'D' }],
    ['data may have a question alone', [{ data: { question: 'Q' } }], { question: 'Q' }],
    [
      'data may have a document alone',
      [{ text: 'Q' }, { data: { document: 'D' } }],
      { question: 'Q', document: 'D' },
    ],
    [
      'several documents are one',
      [{ text: 'Q' }, { data: { document: 'A' } }, { raw: raw('B') }],
      { question: 'Q', document: 'A\n\nB' },
    ],
  ])('is a question and a document: %s', async (_what, parts, request) => {
    expect((await work(parts)).request).toEqual({ document: undefined, ...request });
  });

  it.each([
    [[{ text: 'Q' }, { url: 'http://127.0.0.1/' }], 'a part with a URL: this agent fetches nothing'],
    [
      [{ text: 'Q' }, { raw: raw('x'), mediaType: 'image/png' }],
      'expected text/plain or text/markdown, came image/png',
    ],
    [[{ data: { question: 'Q', more: 1 } }], 'a part with data: there is no such key: more'],
    [[{ data: { question: 7 } }], 'a part with data: question'],
    [[{ data: { question: 'x'.repeat(64 * 1024 + 1) } }], 'question: expected at most 65536 characters'],
    [[{ data: null }], 'the message: question'],
    [[{ text: '' }], 'the message: question'],
    [[{ text: ' \n\t' }], 'must say something'],
    [[{ raw: raw('a document alone') }], 'the message: question'],
    [[{ text: 'x'.repeat(64 * 1024 + 1) }], 'the message: question: expected at most 65536 characters'],
  ])('of %j is rejected with the reason, and asks nothing', async (parts, reason) => {
    const { request, said } = await work(parts);
    expect(request).toBeUndefined();
    expect(said).toEqual([['TASK_STATE_REJECTED', expect.stringContaining(reason)]]);
  });
});

describe('the work on a message', () => {
  it.each<[what: string, ask: Ask, end: [state: string, text: string]]>([
    [
      'a team that failed',
      async () => ({ ...answered, status: 'failed', reason: 'no key' }),
      ['TASK_STATE_FAILED', 'failed: no key'],
    ],
    [
      'a team without a reason',
      async () => ({ ...answered, status: 'timeout' }),
      ['TASK_STATE_FAILED', 'timeout: no answer'],
    ],
    [
      'a team that is busy',
      () => Promise.reject(new MeshError('limit', 'busy')),
      ['TASK_STATE_REJECTED', 'busy'],
    ],
    [
      'a team that was lost',
      () => Promise.reject(new MeshError('agent', 'lost')),
      ['TASK_STATE_FAILED', 'lost'],
    ],
    ['another error', () => Promise.reject(new Error('limit')), ['TASK_STATE_FAILED', 'limit']],
  ])('ends without an answer for %s', async (_what, ask, end) => {
    const { said, events } = await work([{ text: 'Q' }], ask);
    expect(said.at(-1)).toEqual(end);
    expect(events.filter(({ kind }) => kind === 'artifact')).toEqual([]);
  });
});

describe('the events of an answer', () => {
  it('are the work, its progress in words, the answer as text and as data, and the end', async () => {
    const { events, request, signal, given } = await work(
      [{ text: 'Q' }],
      async (_request, _signal, told) => {
        told('agent 1 sent events (packet 3)', 3);
        return answered;
      },
    );
    expect(request).toEqual({ question: 'Q', document: undefined });
    expect(signal).toBe(given);
    const progress = expect.objectContaining({
      parts: [expect.objectContaining({ text: expect.stringMatching(/\b1\b.*events|events.*\b1\b/) })],
    });
    expect(events).toEqual([
      { kind: 'status', state: 'TASK_STATE_WORKING' },
      { kind: 'status', state: 'TASK_STATE_WORKING', message: progress },
      {
        kind: 'artifact',
        artifact: {
          artifactId: expect.stringMatching(/^[\da-f-]{36}$/),
          name: 'answer',
          parts: [
            { text: 'Paris', mediaType: 'text/plain' },
            { data: answered, mediaType: 'application/json' },
          ],
        },
        lastChunk: true,
      },
      { kind: 'status', state: 'TASK_STATE_COMPLETED', message: undefined },
    ]);
  });

  it('have an empty text where the team answered with nothing', async () => {
    const { events } = await work([{ text: 'Q' }], async () => ({ ...answered, answer: null }));
    expect(events.at(-2)).toMatchObject({ artifact: { parts: [{ text: '' }, { data: { answer: null } }] } });
  });
});

test('the card of a team says what it takes and gives, and asks for a token where there is one', () => {
  const open = {
    name: 'react',
    description: 'A team',
    version: '1',
    capabilities: { streaming: true, pushNotifications: true },
    defaultInputModes: ['text/plain', 'text/markdown', 'application/json'],
    defaultOutputModes: ['text/plain', 'application/json'],
    skills: [
      {
        id: 'ask',
        name: 'Answer a question',
        description: expect.stringMatching(/^A team\. .*question.*document/),
        tags: ['question-answering'],
      },
    ],
  };
  expect(buildTeamCard('react', 'A team', '1', false)).toEqual(open);
  expect(buildTeamCard('react', 'A team', '1', true)).toEqual({
    ...open,
    securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
    securityRequirements: [{ schemes: { bearer: { list: [] } } }],
  });
});

test.each(['answered', 'failed', 'timeout'] as const)(
  'a reply that %s becomes an answer with its figures',
  (status) => {
    const taken = { seconds: 1.5, packets: 2, bytes: 3, tokens: null, cost: 0.5 };
    const attempt = attemptOf('t', {
      ...{ status, raw_answer: 'Paris', answer: 'paris', model_calls: 5, ...taken },
      reason: status === 'answered' ? undefined : 'why',
    });
    const figures = {
      task_id: 't',
      elapsed_ms: 1500,
      packets: 2,
      bytes: 3,
      tokens: null,
      model_calls: 5,
      cost_usd: 0.5,
    };
    expect(toAnswer(attempt)).toEqual(
      status === 'answered'
        ? { answer: 'Paris', status, ...figures }
        : { answer: null, status, reason: 'why', ...figures },
    );
  },
);
