import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createBodyCounter } from './body-counter.ts';

type BodyFormat = Parameters<typeof createBodyCounter>[0];

function counted(format: BodyFormat, chunks: readonly Buffer[]) {
  const sums = { bytes: 0, messages: 0 };
  const counter = createBodyCounter(format, {
    add(bytes, messages) {
      sums.bytes += bytes;
      sums.messages += messages;
    },
  });
  for (const chunk of chunks) counter(chunk);
  return sums;
}

function cut(bytes: Buffer, at: readonly number[]): Buffer[] {
  const ends = [...at.map((end) => end % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  return ends.map((end, i) => bytes.subarray(ends[i - 1] ?? 0, end));
}

test.each<[string, BodyFormat, string, { bytes: number; messages: number }]>([
  ['a body is one message', 'whole', 'abc', { bytes: 3, messages: 1 }],
  ['an empty body is none', 'whole', '', { bytes: 0, messages: 0 }],
  ['an event with its data', 'events', 'id: 1\nevent: x\ndata: {"a":1}\n\n', { bytes: 7, messages: 1 }],
  ['data without a space', 'events', 'data:{}\n\n', { bytes: 2, messages: 1 }],
  ['one space of two', 'events', 'data:  {}\n\n', { bytes: 3, messages: 1 }],
  ['data in two lines', 'events', 'data: {\ndata: }\n\n', { bytes: 2, messages: 1 }],
  [
    'lines that end in return and newline',
    'events',
    'data: {}\r\n\r\ndata:\r\n\r\n',
    { bytes: 2, messages: 2 },
  ],
  ['comments keep a stream alive', 'events', ': ping\n\n:\n\n', { bytes: 0, messages: 0 }],
  ['a field that begins like data', 'events', 'database: 1\ndat\n\n', { bytes: 0, messages: 0 }],
  ['messages of gRPC', 'grpc', '\0\0\0\0\x02ab\0\0\0\0\0\0\0\0\0\x01c', { bytes: 3, messages: 3 }],
  ['lines', 'lines', '{}\n{}\n', { bytes: 4, messages: 2 }],
])('%s, however it is cut', (_what, format, body, expected) => {
  fc.assert(
    fc.property(fc.array(fc.nat(), { maxLength: 6 }), (at) => {
      expect(counted(format, cut(Buffer.from(body), at))).toEqual(expected);
    }),
    { numRuns: 50 },
  );
});
