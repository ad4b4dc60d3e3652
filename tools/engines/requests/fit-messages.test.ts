import type { ChatMessage } from '@gaia-mesh/core/contracts/engine.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countCharacters, fitMessages } from './fit-messages.ts';

const messages = fc
  .array(
    fc.oneof(
      fc.record({ role: fc.constant('user' as const), content: fc.string({ maxLength: 3_000 }) }),
      fc.record({ role: fc.constant('assistant' as const), content: fc.string({ maxLength: 3_000 }) }),
      fc.record({
        role: fc.constant('tool' as const),
        toolCallId: fc.string(),
        name: fc.string(),
        content: fc.integer({ min: 0, max: 30_000 }).map((length) => 'x'.repeat(length)),
      }),
    ),
    { maxLength: 12 },
  )
  .map((rest): ChatMessage[] => [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Question: why?' },
    ...rest,
  ]);

test('no message is lost or grows, the system message stays whole, and what fits is not touched', () => {
  fc.assert(
    fc.property(messages, fc.integer({ min: 0, max: 60_000 }), (given, room) => {
      const fitted = fitMessages(given, room);
      expect(fitted.map(({ role }) => role)).toEqual(given.map(({ role }) => role));
      fitted.forEach((message, index) => {
        expect(message.content.length).toBeLessThanOrEqual(given[index]?.content.length ?? 0);
      });
      expect(fitted[0]).toEqual(given[0]);
      if (countCharacters(given) <= room) expect(fitted).toBe(given);
      // The minimum: each message brief, and a new result with some content.
      else if (room >= 1_000 * given.length) expect(countCharacters(fitted)).toBeLessThanOrEqual(room);
    }),
  );
});

test('the oldest results are shortened first, and the newest last', () => {
  const result = (id: string): ChatMessage[] => [
    { role: 'assistant', content: '', toolCalls: [{ id, name: 't', arguments: {} }] },
    { role: 'tool', toolCallId: id, name: 't', content: `${id}${'x'.repeat(9_999)}` },
  ];
  const given: ChatMessage[] = [
    { role: 'user', content: 'Why?' },
    ...result('a'),
    ...result('b'),
    ...result('c'),
  ];
  const lengths = (room: number) =>
    fitMessages(given, room)
      .filter(({ role }) => role === 'tool')
      .map(({ content }) => content.length);
  expect(lengths(25_000)).toEqual([2_000, 10_000, 10_000]);
  expect(lengths(15_000)).toEqual([2_000, 2_000, 10_000]);
  expect(lengths(12_500)).toEqual([300, 2_000, 10_000]);
  const [first, second, newest] = lengths(5_000);
  expect([first, second]).toEqual([300, 300]);
  expect(newest).toBeGreaterThan(3_500);
});
