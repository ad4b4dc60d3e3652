import type { ChatMessage } from '@gaia-mesh/core/contracts/engine.ts';
import { expect, test } from 'vitest';
import { countCharacters, Summaries } from './window.ts';

const call = (id: string, length: number): ChatMessage[] => [
  { role: 'assistant', content: '', toolCalls: [{ id, name: 't', arguments: {} }] },
  { role: 'tool', toolCallId: id, name: 't', content: `${id} ${'x'.repeat(length)}` },
];
const begin: ChatMessage[] = [{ role: 'user', content: 'Why?' }];
const resultsIn = (messages: readonly ChatMessage[]) =>
  messages.filter(({ role }) => role === 'tool').map(({ content }) => content);

function asked(room: number, say = (given: readonly string[]): string | undefined => `of ${given.length}`) {
  const requests: (readonly string[])[] = [];
  const summaries = new Summaries();
  const shorten = (messages: readonly ChatMessage[]) =>
    summaries.shorten(
      messages,
      (some) => countCharacters(some) <= room,
      async (results) => {
        requests.push(results);
        return say(results);
      },
    );
  return { requests, shorten };
}

test('a summary stands for the old results, and is made once', async () => {
  const { requests, shorten } = asked(5_000);
  const messages = [...begin, ...call('a', 3_000), ...call('b', 3_000), ...call('c', 3_000)];

  const [first, second, newest] = resultsIn(await shorten(messages));
  expect(first).toBe('[In the summary further on.]');
  expect(second).toBe('[Summarised, to fit the model’s context.]\nof 2');
  expect(newest).toHaveLength(3_002);
  await shorten(messages);
  expect(requests.map((given) => given.map((text) => text[0]))).toEqual([['a', 'b']]);
});

test('in later turns the summary and what has come since are summarised in one, where there is need', async () => {
  const { requests, shorten } = asked(6_000);
  const three = [...begin, ...call('a', 3_000), ...call('b', 3_000), ...call('c', 3_000)];
  await shorten(three);
  expect(requests).toHaveLength(1);
  // The summary of two results, the shortened `c`, and `d` fit together.
  const four = [...three, ...call('d', 3_000)];
  expect(resultsIn(await shorten(four))[1]).toContain('of 2');
  expect(requests).toHaveLength(1);

  const five = [...four, ...call('e', 3_000)];
  expect(resultsIn(await shorten(five)).map((text) => text.slice(-4))).toEqual([
    ' on.]'.slice(-4),
    ' on.]'.slice(-4),
    ' on.]'.slice(-4),
    'of 3',
    'xxxx',
  ]);
  expect(requests[1]?.map((text) => text.slice(0, 4))).toEqual(['of 2', 'c xx', 'd xx']);
});
