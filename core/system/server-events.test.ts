import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readServerEvents } from './server-events.ts';

const tooLong = () => new RangeError('too long');

async function read(chunks: readonly Uint8Array[], maxCharacters = 1000, maxBytes?: number) {
  const events: unknown[] = [];
  for await (const { retryMs, ...event } of readServerEvents(chunks, { maxCharacters, maxBytes, tooLong }))
    events.push(JSON.parse(JSON.stringify({ ...event, retryMs })));
  return events;
}

const STREAM =
  '\ufeff: hello\nretry: 50\nid: 7\nevent: note\ndata: größer\ndata:  two\n\nother: x\n\ndata:\n\ndata: end';
const EVENTS = [
  { event: 'note', id: '7', data: 'größer\n two', retryMs: 50 },
  { data: '' },
  // The last one lacks its empty line.
  { data: 'end' },
];

test.each(['\n', '\r\n', '\r'])(
  'events are the same however the stream is cut, with line ends %j',
  async (end) => {
    const bytes = Buffer.from(STREAM.replaceAll('\n', end));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 20 }), async (cuts) => {
        const bounds = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        const chunks = bounds.slice(1).map((to, index) => bytes.subarray(bounds[index], to));
        expect(await read(chunks)).toEqual(EVENTS);
      }),
    );
  },
);

test('an event is yielded as soon as it is whole', async () => {
  async function* body() {
    yield Buffer.from('data: 1\n\nda');
    throw new Error('read on before the event was taken');
  }
  for await (const { data } of readServerEvents(body(), { maxCharacters: 10, tooLong })) {
    expect(data).toBe('1');
    return;
  }
});

test('an event has a bound, over lines and chunks, and so has the stream', async () => {
  const chunks = (...texts: string[]) => texts.map((text) => Buffer.from(text));
  expect(await read(chunks('data: 1234', '5\n\n'), 11)).toEqual([{ data: '12345' }]);
  await expect(read(chunks('data: 12345', '6\n\n'), 10)).rejects.toThrow(RangeError);
  await expect(read(chunks('data: 123\n', 'data: 456\n', 'data: 789\n'), 10)).rejects.toThrow(RangeError);
  expect(await read(chunks('data: 1\n\n', 'data: 2\n\n'), 10, 18)).toHaveLength(2);
  await expect(read(chunks('data: 1\n\n', 'data: 2\n\n'), 10, 17)).rejects.toThrow(RangeError);
});
