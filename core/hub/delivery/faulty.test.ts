import { describe, expect, test, vi } from 'vitest';
import { DOC_INIT } from '../../contracts/packet.ts';
import type { Emission, Tool } from '../../contracts/tool.ts';
import { buildRunLedger } from '../../run/metrics/run-ledger.ts';
import { startMesh, toolOf } from '../../testing/mesh.ts';
import { parseFaults } from '../faults/parse-faults.ts';
import type { MeshNetwork } from '../mesh-network.ts';
import { type DeliveryEvent, FaultyDelivery } from './faulty.ts';

const PACKETS = 40;
const final = (answer: string): Emission => ({
  type: 'data_event',
  tag: 'final_answer',
  payload: { answer },
});

/** Agent 0 sends numbered packets, agent 1 says what it got when it has had `expected` of them. */
async function numbersMesh(spec: string, expected = PACKETS, maxHeldBytes?: number) {
  const heard: number[] = [];
  const events: DeliveryEvent[] = [];
  const tools: Tool[] = [
    toolOf(DOC_INIT, 'n', async () =>
      Array.from({ length: PACKETS }, (_, n) => ({ type: 'n', payload: { n } })),
    ),
    toolOf('n', 'data_event', async ({ payload }) => {
      heard.push(Number(payload.n));
      return heard.length === expected ? [final('all')] : [];
    }),
  ];
  const agents = tools.map((tool, index) => ({ id: String(index), tool: tool.name }));
  const delivery = new FaultyDelivery({
    seed: 7,
    faults: parseFaults(spec, agents),
    onEvent: (event) => events.push(event),
    maxHeldBytes,
  });
  const mesh = await startMesh(tools, { delivery });
  return { ...mesh, heard, delivery, counters: delivery.counters, events };
}

/** Closes the books as a run does. */
async function closedLedger(network: MeshNetwork, { counters }: FaultyDelivery) {
  await network.settle();
  return buildRunLedger(network, { faults: counters });
}

const inOrder = Array.from({ length: PACKETS }, (_, n) => n);

describe('a delivery', () => {
  test('is dropped, once and for all, and on the line of its own', async () => {
    const { ask, network, heard, delivery, counters, events } = await numbersMesh('drop=100%:0>1');

    expect(await ask('t', {}, 200)).toMatchObject({ status: 'timeout' });
    await vi.waitFor(() => expect(counters.total.dropped.packets).toBe(PACKETS), { timeout: 60_000 });

    const ledger = await closedLedger(network, delivery);
    expect(heard).toEqual([]);
    expect(events).toContainEqual(
      expect.objectContaining({
        kind: 'drop',
        from: '0',
        to: '1',
        number: 40,
        packet: expect.objectContaining({ task_id: 't' }),
      }),
    );
    expect(counters.takeHarmedOf('t')).toBe(PACKETS);
    expect(ledger).toMatchObject({ balanced: true, differences: [] });
    expect(ledger.faults?.dropped.bytes).toBe(network.typeCounts.get('n')?.bytes_tx);
    expect(ledger.written.packets).toBe(network.initBytes);
  });

  test('is made twice and heard twice', async () => {
    const { ask, network, heard, delivery } = await numbersMesh('dup=100%:0>1', 2 * PACKETS);

    await ask('t');

    expect(heard).toEqual(inOrder.flatMap((n) => [n, n]));
    expect(await closedLedger(network, delivery)).toMatchObject({
      balanced: true,
      faults: { duplicated: { packets: PACKETS }, delivered: { packets: 2 + PACKETS + 1 } },
    });
  });

  test('is made late and in the order of its way', async () => {
    const { ask, network, heard, delivery, counters } = await numbersMesh('delay=30ms±30:0>1');

    const { elapsedMs } = await ask('t', {}, 10_000);

    expect(heard).toEqual(inOrder);
    expect(elapsedMs).toBeGreaterThan(30);
    expect(counters.total.delayed.packets).toBe(PACKETS);
    expect(counters.total.early.packets).toBe(0);
    expect(await closedLedger(network, delivery)).toMatchObject({ balanced: true });
  });

  test('is made at once, in order and counted, when too much waits already', async () => {
    const { ask, network, heard, delivery, counters } = await numbersMesh('delay=60s:0>1', PACKETS, 1000);
    const task = ask('t', {}, 60_000);
    await vi.waitFor(() => expect(counters.of('1').offered.packets).toBe(PACKETS + 1), { timeout: 60_000 });

    const atOnce = counters.total.early.packets;
    expect(atOnce).toBeGreaterThan(PACKETS / 2);
    await vi.waitFor(() => expect(heard).toHaveLength(atOnce), { timeout: 60_000 });
    delivery.end();
    await task;

    expect(heard).toEqual(inOrder);
    expect(await closedLedger(network, delivery)).toMatchObject({ balanced: true });
  });

  test('is corrupted in the blob alone, so that the connection lives and its receiver counts it', async () => {
    const { ask, network, delivery, counters } = await numbersMesh('corrupt=100%:0>1', PACKETS + 1);

    await ask('t', {}, 300);
    await vi.waitFor(() => expect(counters.total.corrupted.packets).toBe(PACKETS), { timeout: 60_000 });

    const ledger = await closedLedger(network, delivery);
    expect(ledger).toMatchObject({ balanced: true, differences: [] });
    expect(network.links[1]?.alive).toBe(true);
    expect(network.links[1]?.ledgerReport?.refused.packets).toBeGreaterThan(0);
    expect(network.links[0]?.ledgerReport?.refused.packets).toBe(0);
  });
});

test('a lost agent is counted for what it would have heard', async () => {
  const { ask, agents, network, delivery, counters } = await numbersMesh('drop=0%');
  await agents[1]?.stop();
  await expect.poll(() => network.links[1]?.alive).toBe(false);

  expect(await ask('t')).toMatchObject({ status: 'failed' });
  expect(await closedLedger(network, delivery)).toMatchObject({ balanced: true });
  // The document, and what agent 0 had sent before it heard that the task is over.
  const { offered, undeliverable } = counters.of('1');
  expect(undeliverable.packets).toBeGreaterThan(0);
  expect(undeliverable).toEqual(offered);
});
