import { temporaryFolder } from '@gaia-mesh/core/testing/temporary-folder.ts';
import { expect, test } from 'vitest';
import {
  AcknowledgedDelivery,
  chunkDocument,
  createRouter,
  type DeliveryEvent,
  type DeliveryStrategy,
  DirectDelivery,
  FaultyDelivery,
  loadAdapter,
  MeshNetwork,
  parseFaults,
  startAgent,
} from './library.ts';

const TOOLS = ['search', 'extract', 'triple', 'reason'];

/** One question to the default team by what the library exports alone, over the delivery that it is given. */
async function askOver(delivery: DeliveryStrategy, timeoutMs: number) {
  const agents = await Promise.all(
    TOOLS.map((tool, id) =>
      startAgent({
        id: String(id),
        tool,
        place: { port: 0 },
        workspace: temporaryFolder(),
        engine: { name: 'extractive' },
      }),
    ),
  );
  const nodes = agents.map(({ port }, id) => ({ id: String(id), tool: TOOLS[id] ?? '', port, secret: '' }));
  const hub = await MeshNetwork.connect({
    runId: 'library',
    secret: '',
    nodes,
    delivery,
    final: '3',
    adapter: await loadAdapter('json'),
    router: createRouter('broadcast'),
    maxFrameBytes: 1024 * 1024,
  });
  const chunks = chunkDocument('The bridge was opened on 3 October 1868. It is 240 metres long.');
  const payload = { question: 'When was the bridge opened?', chunks };
  try {
    return await hub.runTask({ taskId: 'bridge', payload, timeoutMs }, AbortSignal.timeout(60_000));
  } finally {
    hub.close();
    await Promise.all(agents.map((agent) => agent.stop()));
  }
}

test('a mesh that is driven from code loses what it was told to lose', async () => {
  const events: DeliveryEvent[] = [];
  const faults = parseFaults(
    'drop=100%:search>extract',
    TOOLS.map((tool, id) => ({ id: String(id), tool })),
  );
  const faulty = new FaultyDelivery({ seed: 7, faults, onEvent: (event) => events.push(event) });

  expect(await askOver(faulty, 1000)).toMatchObject({ status: 'timeout', answer: null });
  expect(events).toEqual([expect.objectContaining({ kind: 'drop' })]);
});

test('a mesh that is driven from code may have its deliveries acknowledged', async () => {
  const acknowledged = new AcknowledgedDelivery(new DirectDelivery(), () => false);

  expect(await askOver(acknowledged, 60_000)).toMatchObject({ status: 'answered', answer: '3 October 1868' });
});
