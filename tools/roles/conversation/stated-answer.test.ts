import { describe, expect, test } from 'vitest';
import { finalOf } from '../testing/final-payload.ts';
import { calls, says, startRoleModel } from '../testing/role-model.ts';
import { startTeamMesh, type TestAgent } from '../testing/team-mesh.ts';

const AGENTS: readonly TestAgent[] = [
  { id: 'react', tool: 'react_step', may_call: ['list_files'] },
  { id: 'list_files', tool: 'list_files' },
];

async function ask(replies: Parameters<typeof startRoleModel>[0]['react']) {
  const model = await startRoleModel({ react: replies ?? [] });
  const mesh = await startTeamMesh({
    agents: AGENTS,
    modelUrl: model.url,
    files: { 'a.txt': 'heron' },
    engineOptions: { max_retries: 0 },
  });
  const outcome = await mesh.ask({ question: 'Which bird is it?' });
  return { outcome, requests: model.asked('react') };
}

const STATED = calls('list_files', {}, 'FINAL ANSWER: heron\nI only check the files.');

describe('an answer that was stated', () => {
  test.each([
    ['silence', ''],
    ['thoughts alone', '<think>That was it.</think>'],
    ['a refusal', 'I am sorry, I cannot help with that.'],
    ['talk', 'Everything is as it should be.'],
  ])('stands when %s follows it', async (_, content) => {
    const { outcome, requests } = await ask([STATED, says(content)]);

    const final = finalOf(outcome);
    expect(final.answer).toBe('heron');
    expect(final.reasoning_trace).toContain('the one that was stated before counts');
    expect(requests).toHaveLength(2);
  });

  test('gives way to one that is stated later', async () => {
    const { outcome } = await ask([STATED, says('No, wait.\nFINAL ANSWER: crow')]);

    expect(finalOf(outcome).answer).toBe('crow');
  });

  test.each([
    [
      'whose context is full',
      { status: 400, error: 'maximum context length is 4096 tokens', code: 'context_length_exceeded' },
    ],
    ['whose server is gone', { status: 500, error: 'down' }],
  ])('survives a model %s, and the trace says what happened (RA-21)', async (_, failure) => {
    const { outcome } = await ask([STATED, failure]);

    const final = finalOf(outcome);
    expect(final).toMatchObject({ answer: 'heron', details: { ended: 'limit' } });
    expect(final.reasoning_trace).toContain('the model cannot go on');
  });
});

describe('a reply that calls no tool and states no answer', () => {
  test('is asked once more: the model may only have said what it is about to do', async () => {
    const { outcome, requests } = await ask([
      says('I will now look at the files.'),
      calls('list_files', {}),
      says('FINAL ANSWER: heron'),
    ]);

    expect(finalOf(outcome).answer).toBe('heron');
    expect(requests[1]?.messages.at(-1)).toMatchObject({
      role: 'user',
      content: expect.stringContaining('does not state an answer'),
    });
  });

  test('is taken as it is the second time (SV-18)', async () => {
    const { outcome, requests } = await ask([says('heron')]);

    expect(finalOf(outcome)).toMatchObject({ answer: 'heron', details: { ended: 'answer' } });
    expect(requests).toHaveLength(2);
  });

  test('because it was cut off is asked for more briefly', async () => {
    const { outcome, requests } = await ask([
      { content: 'The bird that is shown in the', finish: 'length' },
      says('FINAL ANSWER: heron'),
    ]);

    expect(finalOf(outcome).answer).toBe('heron');
    expect(requests[1]?.messages.at(-1)?.content).toContain('cut off at the length limit');
  });
});

test('what a model says before several calls is in the trace once', async () => {
  const { outcome } = await ask([
    {
      content: 'Both at once.',
      toolCalls: [
        { name: 'list_files', arguments: { reason: 'first' } },
        { name: 'list_files', arguments: { reason: 'second' } },
      ],
    },
    says('FINAL ANSWER: heron'),
  ]);

  expect(finalOf(outcome).reasoning_trace.split('Both at once.')).toHaveLength(2);
});
