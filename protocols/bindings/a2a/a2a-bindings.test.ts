import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Packet } from '../../../core/contracts/packet.ts';
import { contractSamples, fullPacket } from '../../contract/samples.ts';
import type { Binding, BindingSettings, Inbox } from '../contract/binding.ts';
import { testSettings } from '../testing/settings.ts';
import { a2aJsonRpcBare, a2aRestBare } from './bare/bindings.ts';

const bindings = [a2aJsonRpcBare, a2aRestBare];
const packets = contractSamples.map(({ packet }) => packet);
/** Ways of answering differ in how packets travel, not in what they may hold. */
const few = packets.slice(0, 3);

/** What `use` does with an exchange over a binding whose server answers by `inbox`. */
async function over(
  binding: Binding,
  inbox: Inbox,
  settings: Partial<BindingSettings>,
  use: (exchange: (packet: Packet) => Promise<readonly Packet[]>) => Promise<void>,
): Promise<void> {
  const all = { ...testSettings, ...settings };
  const server = await binding.serve(inbox, all);
  try {
    const client = await binding.connect(server.address, all);
    await use((packet) => client.exchange(packet, AbortSignal.timeout(20_000)));
    await client.close();
  } finally {
    await server.close();
  }
}

const cases = bindings.flatMap((binding) =>
  binding.traits.later.map((later) => [`${binding.name} ${binding.implementation}`, later, binding] as const),
);

describe.each(cases)('%s, answers by %s', (_name, later, binding) => {
  test('brings packets as they were, both ways', async () => {
    const heard: Packet[] = [];
    const sent = later === 'hold' ? packets : few;
    const inbox: Inbox = async (packet) => {
      heard.push(packet);
      return [
        { ...packet, id: 'first' },
        { ...packet, id: 'second', reply_to: packet.id },
      ];
    };
    await over(binding, inbox, { later }, async (exchange) => {
      for (const packet of sent) {
        expect(await exchange(packet)).toEqual([
          { ...packet, id: 'first' },
          { ...packet, id: 'second', reply_to: packet.id },
        ]);
      }
    });
    expect(heard).toEqual(sent);
  });

  test('waits for work that takes its time, several at once', async () => {
    const inbox: Inbox = async (packet) => {
      await delay(30);
      return [{ ...packet, reply_to: packet.id, id: `${packet.id}-reply` }];
    };
    await over(binding, inbox, { later }, async (exchange) => {
      const asked = Array.from({ length: 8 }, (_, i) => ({ ...fullPacket, id: `p-${i}` }));
      const answers = await Promise.all(asked.map(exchange));
      expect(answers.map(([reply]) => reply?.reply_to)).toEqual(asked.map(({ id }) => id));
    });
  });

  test('ends without a packet where nobody answers, and with the reason where the work failed', async () => {
    const inbox: Inbox = async ({ id }) => {
      if (id === 'bad') throw new Error('the disk is full');
      return [];
    };
    await over(binding, inbox, { later }, async (exchange) => {
      expect(await exchange({ ...fullPacket, id: 'good' })).toEqual([]);
      await expect(exchange({ ...fullPacket, id: 'bad' })).rejects.toMatchObject({
        code: 'agent',
        message: expect.stringContaining('the disk is full'),
      });
    });
  });
});
