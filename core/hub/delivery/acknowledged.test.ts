import { describe, expect, test } from 'vitest';
import { DELIVERY_LIMITS } from '../../contracts/limits.ts';
import { DOC_INIT, FINAL_ANSWER } from '../../contracts/packet.ts';
import { buildRunLedger } from '../../run/metrics/run-ledger.ts';
import { startMesh, toolOf } from '../../testing/mesh.ts';
import { onPackets } from '../../testing/packet-observer.ts';
import { quietLink } from '../../testing/quiet-link.ts';
import type { MeshNetwork } from '../mesh-network.ts';
import { AcknowledgedDelivery } from './acknowledged.ts';
import { DirectDelivery } from './direct.ts';

const answer = (text: string) => ({ type: 'answer', tag: FINAL_ANSWER, payload: { answer: text } });

/** Ends the connection of an agent, whose process lives on, and waits until the hub knows. */
async function cut(network: MeshNetwork, id: string): Promise<() => Promise<void>> {
  const link = network.links.find(({ node }) => node.id === id);
  if (link === undefined) throw new Error(`no agent ${id}`);
  link.socket.destroy();
  await link.socket.closed;
  await expect.poll(() => link.alive).toBe(false);
  return () => network.readmit(link.node);
}

/** What makes deliveries acknowledged, for agents that return while `isReturning` says so. */
function acknowledging(isReturning: (id: string) => boolean) {
  return { isReturning, delivery: new AcknowledgedDelivery(new DirectDelivery(), isReturning) };
}

async function closedBooks(network: MeshNetwork, { counters }: AcknowledgedDelivery) {
  await network.settle();
  const { noted, acknowledged, undeliverable, waiting } = counters;
  expect(noted.packets).toBe(acknowledged.packets + undeliverable.packets + waiting);
  expect(buildRunLedger(network).differences).toEqual([]);
  return counters;
}

describe('acknowledged delivery', () => {
  test('a packet for an agent whose connection is cut reaches it when it is dialled again', async () => {
    const heard: string[] = [];
    const first = toolOf(DOC_INIT, 'step', async () => [{ type: 'step', payload: {} }]);
    const last = toolOf('step', 'answer', async ({ task_id }) => {
      heard.push(task_id);
      return [answer(task_id)];
    });
    const mode = acknowledging((id) => id === '1');
    const { network, ask } = await startMesh([first, last], mode);
    expect(await ask('one')).toMatchObject({ status: 'answered' });
    const dialAgain = await cut(network, '1');
    const asked = ask('two');
    await expect.poll(() => mode.delivery.counters.waiting).toBeGreaterThan(1);
    await dialAgain();

    expect(await asked).toMatchObject({ status: 'answered', answer: 'two' });
    expect(heard).toEqual(['one', 'two']);
    expect(await closedBooks(network, mode.delivery)).toMatchObject({ undeliverable: { packets: 0 } });
    expect(network.links.every(({ counts }) => counts.ackRx > 0 && counts.ackTx > 0)).toBe(true);
  });

  test('work that was on when the connection was cut is done again, and its result comes once', async () => {
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const { promise: let1, resolve: goOn } = Promise.withResolvers<void>();
    let times = 0;
    const only = toolOf(DOC_INIT, 'answer', async () => {
      times += 1;
      begin();
      if (times === 1) await let1;
      return [answer(`attempt ${times}`)];
    });
    const relayed: string[] = [];
    const mode = acknowledging(() => true);
    const { network, ask } = await startMesh([only], {
      ...mode,
      observer: onPackets(({ head }) => relayed.push(head.id)),
    });
    const asked = ask('task');
    await begun;
    const dialAgain = await cut(network, '0');
    await dialAgain();
    expect(await asked).toMatchObject({ status: 'answered', answer: 'attempt 2' });
    goOn();
    await closedBooks(network, mode.delivery);
    expect(relayed).toHaveLength(1);
  });

  test('a packet that comes again is none, as long as it can: twice what an outbox holds is remembered, and no more', async () => {
    const { delivery } = acknowledging(() => true);
    const { link } = await quietLink('a');
    const came = (number: number) =>
      delivery.receive(link, { type: 'n', from: 'a', id: `a-${number}`, task_id: 't', token_used: 0 });
    const remembered = 2 * DELIVERY_LIMITS.outboxPackets;
    for (let number = 1; number <= remembered; number++) expect(came(number)).toBe(true);
    for (const number of [1, 2, remembered]) expect(came(number)).toBe(false);
    expect(delivery.terms('a')).toMatchObject({ have: `a-${remembered}` });
    expect(came(remembered + 1)).toBe(true);
    expect(came(2)).toBe(false);
    expect(came(1)).toBe(true);
  });

  test('an agent that does not come back has its packets as undeliverable, and the task ends', async () => {
    const returning = new Set(['1']);
    const first = toolOf(DOC_INIT, 'step', async () => [{ type: 'step', payload: {} }]);
    const last = toolOf('step', 'answer', async () => [answer('yes')]);
    const mode = acknowledging((id) => returning.has(id));
    const { network, ask } = await startMesh([first, last], mode);
    await cut(network, '1');
    const asked = ask('task');
    await expect.poll(() => mode.delivery.counters.waiting).toBeGreaterThan(0);
    returning.clear();
    network.giveUp('1');

    expect(await asked).toMatchObject({ status: 'failed', reason: expect.stringContaining('agent 1') });
    expect((await closedBooks(network, mode.delivery)).undeliverable.packets).toBeGreaterThan(0);
  });

  test('a full outbox makes work wait and loses nothing; memory stays within the bounds', async () => {
    const seeds = 24;
    const each = 64;
    const text = 'x'.repeat(16 * 1024);
    const source = toolOf(DOC_INIT, 'seed', async () =>
      Array.from({ length: seeds }, (_, number) => ({ type: 'seed', payload: { number } })),
    );
    const middle = toolOf('seed', 'part', async () =>
      Array.from({ length: each }, () => ({ type: 'part', to: '2', payload: { text } })),
    );
    let parts = 0;
    let most = 0;
    const { promise: opened, resolve: open } = Promise.withResolvers<void>();
    const sink = toolOf('part', 'answer', async () => {
      await opened;
      parts += 1;
      return parts === seeds * each ? [answer(String(parts))] : [];
    });
    const mode = acknowledging(() => false);
    const { network, ask } = await startMesh([source, middle, sink], { routing: 'direct', ...mode });
    const kept = () => {
      const { noted, acknowledged } = mode.delivery.counters;
      most = Math.max(most, noted.bytes - acknowledged.bytes);
      return most;
    };
    const asked = ask('task', {}, 50_000);
    // The sink does nothing until the mailbox is full, and everybody before it has stopped.
    await expect.poll(kept, { timeout: 40_000 }).toBeGreaterThan(DELIVERY_LIMITS.mailboxBytes);
    const before = kept();
    open();
    while (parts < seeds * each) {
      kept();
      await new Promise((resolve) => setImmediate(resolve));
    }

    expect(before).toBeGreaterThan(DELIVERY_LIMITS.mailboxBytes);
    expect(await asked).toMatchObject({ status: 'answered', answer: String(seeds * each) });
    const oneWork = each * (text.length + 1024);
    expect(most).toBeLessThan(DELIVERY_LIMITS.mailboxBytes + DELIVERY_LIMITS.outboxBytes + 2 * oneWork);
    await closedBooks(network, mode.delivery);
  });
});
