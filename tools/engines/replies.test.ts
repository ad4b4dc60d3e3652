import { describe, expect, test } from 'vitest';
import type { ScriptedReply } from '../fixtures/model-server.ts';
import { expectFailure, hello, MODEL_ENGINES, serve, underTest } from './testing/engine-under-test.ts';
import { FORMS, LISTING, LOOKUP, TURNS } from './testing/reply-table.ts';

describe.each(MODEL_ENGINES)('replies as models really write them, by the %s engine', (name) => {
  const { engineAt, chatOf, performAt } = underTest(name);

  test('in a conversation with tools', async () => {
    const server = await serve((_, index): ScriptedReply => TURNS[index]?.reply ?? {});
    const { engine, workFor } = await engineAt(server.url);
    const work = workFor(new AbortController().signal);
    const read: object[] = [];
    for (const { what } of TURNS) {
      const turn = await chatOf(engine)({ messages: [hello], tools: [LOOKUP, LISTING] }, work);
      const calls = turn.toolCalls.map(({ name: tool, arguments: given }) => ({
        name: tool,
        arguments: given,
      }));
      read.push({ what, says: turn.content, thinks: turn.reasoning ?? '', calls, finish: turn.finish });
    }
    expect(read).toEqual(
      TURNS.map(({ what, says = '', calls = [], thinks = '', finish }) => ({
        what,
        says,
        thinks,
        calls,
        finish: finish ?? (calls.length > 0 ? 'tool_calls' : 'stop'),
      })),
    );
    expect(server.requests).toHaveLength(TURNS.length);
  });

  test('in a step that asks for a form; what cannot be used is asked for once more', async () => {
    for (const { what, content, answer } of FORMS) {
      const server = await serve([{ content }, { content: { answer: 'again' } }]);
      const { outcome } = await performAt(server.url);
      expect({ what, outcome, asked: server.requests.length }).toEqual({
        what,
        outcome: { answer: answer ?? 'again' },
        asked: answer === undefined ? 2 : 1,
      });
    }
  });

  test('a form that never comes is a failure that says so', async () => {
    const server = await serve([{ content: 'It may be 4.' }]);
    expectFailure((await performAt(server.url)).outcome, 'no usable reply', 'not JSON');
  });
});
