import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Causes } from './run-record.ts';

const packet = (id: string, from: string, more: { type?: string; to?: string; reply_to?: string } = {}) => ({
  id,
  from,
  task_id: 't',
  type: 'said',
  ...more,
});

function causesOf(...packets: readonly ReturnType<typeof packet>[]): Causes {
  const causes = new Causes();
  for (const one of packets) causes.add(one);
  return causes;
}

describe('the cause of a packet', () => {
  const causes = causesOf(
    packet('d', 'hub', { type: 'doc_init' }),
    packet('a', '0', { type: 'facts' }),
    packet('b', '1', { to: '2' }),
    packet('c', '3'),
  );

  test('is what its agent reports, if that came before', () => {
    expect(causes.of(packet('x', '3'), 'a', [])).toEqual({ cause: 'a' });
    expect(causes.of(packet('x', '3'), 'later', [])).toEqual({ cause: 'a', inferred: true });
  });

  test('is else the request that it answers', () => {
    expect(causes.of(packet('x', '4', { reply_to: 'b' }), undefined, [])).toEqual({
      cause: 'b',
      inferred: true,
    });
  });

  test('is else the last packet of its task that its agent heard and works on', () => {
    const inferred = (from: string, subscribes: string[]) =>
      causes.of(packet('x', from), undefined, subscribes);
    expect(inferred('2', [])).toMatchObject({ cause: 'c' });
    expect(inferred('3', [])).toMatchObject({ cause: 'a' });
    expect(inferred('2', ['facts'])).toMatchObject({ cause: 'a' });
  });

  test('is the one that a search through all earlier packets would find', () => {
    const name = fc.constantFrom('0', '1', '2', '3');
    const earlier = fc.record({
      from: name,
      to: fc.option(name, { nil: undefined }),
      type: fc.constantFrom('a', 'b', 'c'),
    });
    fc.assert(
      fc.property(
        fc.array(earlier, { maxLength: 20 }),
        name,
        fc.subarray(['a', 'b', 'c']),
        (all, from, types) => {
          const packets = all.map(({ to, ...rest }, index) =>
            packet(`p${index}`, rest.from, to === undefined ? { type: rest.type } : { type: rest.type, to }),
          );
          const isHeard = (one: (typeof packets)[number]) =>
            one.from !== from && (one.to === undefined || one.to === from);
          const last =
            packets.findLast((one) => isHeard(one) && types.includes(one.type)) ?? packets.findLast(isHeard);
          expect(causesOf(...packets).of(packet('x', from), undefined, types)?.cause).toBe(last?.id);
        },
      ),
    );
  });

  test('is nothing where nothing came before', () => {
    expect(causesOf().of(packet('x', '0'), undefined, [])).toBeUndefined();
    expect(causes.of({ ...packet('x', '0'), task_id: 'other' }, undefined, [])).toBeUndefined();
  });
});
