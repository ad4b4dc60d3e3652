import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HEAD_LENGTHS } from '../contracts/packet.ts';
import { Batch } from '../hub/batch.ts';
import { quietLink } from '../testing/quiet-link.ts';
import { slabs } from '../wire/slab.ts';
import { PacketLines } from './packet-lines.ts';

const text = (maxLength: number) =>
  fc.oneof(
    fc.constantFrom('note', '"', '\\', '\n', 'é', '\u2028', '😀'.repeat(maxLength / 2)),
    fc.string({ unit: 'binary', minLength: 1, maxLength: Math.min(maxLength, 40) }),
  );
const optional = (maxLength: number) => fc.option(text(maxLength), { nil: undefined });
const packet = fc.record({
  head: fc.record({
    type: text(HEAD_LENGTHS.type),
    from: text(HEAD_LENGTHS.from),
    to: optional(HEAD_LENGTHS.to),
    id: text(HEAD_LENGTHS.id),
    task_id: text(HEAD_LENGTHS.task_id),
    tag: optional(HEAD_LENGTHS.tag),
    token_used: fc.oneof(fc.nat(1000), fc.maxSafeNat()),
  }),
  frameBytes: fc.oneof(fc.nat(100_000), fc.nat(2 ** 31)),
});

test('a line says of each packet what an observer is told, as JSON', async () => {
  const { link } = await quietLink('b');
  fc.assert(
    fc.property(fc.array(packet, { minLength: 1, maxLength: 60 }), (packets) => {
      const batch = new Batch(link, [link, link], slabs.take(), 0, 1234.5);
      batch.forwardedUs = 9_876_543_210_987.4;
      for (const each of packets) batch.add({ ...each, recipients: batch.recipients });
      let written = '';
      new PacketLines((lines) => {
        written += Buffer.from(lines).toString();
      }).add(batch);
      const lines = written.split('\n');
      expect(lines.pop()).toBe('');
      expect(lines.map((line) => JSON.parse(line))).toEqual(
        packets.map(({ head, frameBytes }) => ({
          level: 'info',
          time: expect.any(Number),
          event: 'packet',
          ...head,
          bytes: frameBytes,
          recipients: 2,
          arrived_us: 1235,
          forwarded_us: 9_876_543_210_987,
        })),
      );
    }),
  );
});
