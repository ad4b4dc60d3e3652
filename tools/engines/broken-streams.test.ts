import { describe, expect, test } from 'vitest';
import type { ScriptedReply } from '../fixtures/model-server.ts';
import { BREAKS, type Break } from '../fixtures/model-wire.ts';
import { expectFailure, hello, MODEL_ENGINES, serve, underTest } from './testing/engine-under-test.ts';

/** Ways in which a reply breaks off or is refused, on every wire format: it is asked for again, and a failure says what happened. */

const WORDS: Readonly<Record<Break, RegExp>> = {
  ends: /the stream ended after [1-9]\d* characters/,
  tears: /the stream ended after [1-9]\d* characters/,
  resets: /the connection was lost \(.+\) after [1-9]\d* characters/,
  stalls: /nothing came for 0\.2 s after [1-9]\d* characters/,
  errs: /in the middle of its reply \(3 times\): the upstream was lost/,
  babbles: /the stream became unreadable after [1-9]\d* characters/,
};
const TEXT = 'It is a heron, of course; everyone can see that. FINAL ANSWER: heron';
const LIMITS = { idleMs: 200, timeoutMs: 60_000 };

describe.each(MODEL_ENGINES)('with the %s engine', (name) => {
  const { chatAt, performAt } = underTest(name);
  const ask = { messages: [hello] };

  test.each(Object.keys(BREAKS) as Break[])('a reply that %s is asked for again', async (breaks) => {
    const server = await serve([{ content: TEXT, breaks }, { content: TEXT }]);
    const { outcome, usages, notes } = await chatAt(server.url, ask, LIMITS);
    expect(outcome).toMatchObject({ content: TEXT });
    expect(usages).toHaveLength(1);
    expect(notes).toEqual([expect.stringContaining('retry 1 of 5')]);
    // HTTP said 200.
    expect(notes[0]).not.toContain('HTTP');

    const always = await serve([{ content: TEXT, breaks }]);
    const failed = await chatAt(always.url, ask, { ...LIMITS, options: { max_retries: 2 } });
    expectFailure(failed.outcome);
    expect(failed.outcome).toMatchObject({
      code: 'reply',
      message: expect.stringMatching(WORDS[breaks]),
    });
    expect(String(failed.outcome)).not.toContain('does not speak');
    expect(always.requests).toHaveLength(breaks === 'stalls' ? 2 : 3);
  });

  test('a reply that ends before its first word, or is empty, is asked for again', async () => {
    const server = await serve([{ raw: '' }, { raw: '{"mess' }, { content: TEXT }]);
    expect((await chatAt(server.url, ask)).outcome).toMatchObject({ content: TEXT });
    const empty = await serve([{ raw: '{"mess' }]);
    expectFailure((await chatAt(empty.url, ask)).outcome, 'ended after 0 characters');
  });

  // What stands in a reply is read by its format, and what HTTP says by one place for all.
  const refusals: readonly [string, ScriptedReply, string][] = [
    ['in the reply', { content: '', finish: 'filtered' }, 'content filter'],
    [
      'as HTTP 400',
      {
        status: 400,
        code: 'content_filter',
        error:
          "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
      },
      'content management policy',
    ],
    [
      'as HTTP 403',
      { status: 403, error: 'Your chosen model requires moderation and your input was flagged' },
      'moderation',
    ],
  ];
  test.each(name === 'openai' ? refusals : refusals.slice(0, name === 'ollama' ? 0 : 1))(
    'a refusal by a filter %s is asked once more, then fails this question alone',
    async (_, refusal, words) => {
      const once = await serve([refusal, { content: TEXT }]);
      expect((await chatAt(once.url, ask)).outcome).toMatchObject({ content: TEXT });

      const always = await serve([refusal]);
      const { outcome } = await chatAt(always.url, ask);
      expect(outcome).toMatchObject({ code: 'reply', message: expect.stringContaining(words) });
      expect(outcome).toMatchObject({ message: expect.stringContaining('refused to answer') });
      expect(always.requests).toHaveLength(2);

      const second = await serve(({ model }) => (model === 'm' ? refusal : { content: TEXT }));
      const options = { fallback_model: 'small' };
      expect((await chatAt(second.url, ask, { options })).outcome).toMatchObject({ content: TEXT });
      expect(second.requests.map(({ model }) => model)).toEqual(['m', 'm', 'small']);
    },
  );

  test.runIf(name === 'openai').each<[string, ScriptedReply]>([
    ['no key', { status: 401, error: 'no such key' }],
    ['no quota', { status: 429, error: 'You exceeded your quota', code: 'insufficient_quota' }],
  ])('%s is no question’s failure', async (_, reply) => {
    const server = await serve([reply]);
    expect((await chatAt(server.url, ask)).outcome).toMatchObject({ code: 'engine' });
  });

  test.runIf(name === 'openai')('an account without quota is not asked in other forms', async () => {
    const server = await serve([{ status: 400, error: 'Your account is spent', code: 'billing_error' }]);
    const { outcome } = await performAt(server.url);
    expect(outcome).toMatchObject({ message: expect.stringContaining('has no quota left') });
    expect(server.requests).toHaveLength(1);
  });
});

test('a stream of OpenAI’s that has said why it ended lacks nothing, however its connection ends', async () => {
  const { chatAt } = underTest('openai');
  const events = [{ delta: { content: TEXT } }, { delta: {}, finish_reason: 'stop' }]
    .map((choice) => `data: ${JSON.stringify({ choices: [choice] })}\n\n`)
    .join('');
  const server = await serve([
    {
      raw: events + ': a comment\n\n'.repeat(100),
      headers: { 'Content-Type': 'text/event-stream' },
      breaks: 'resets',
    },
  ]);
  const { outcome } = await chatAt(server.url, { messages: [hello] });
  expect(outcome).toMatchObject({ content: TEXT });
  expect(server.requests).toHaveLength(1);
});
