import { expect, onTestFinished, test, vi } from 'vitest';
import { LINK_LIMITS, MAX_FRAME_BYTES } from '../contracts/limits.ts';
import { loopback } from '../testing/loopback.ts';
import { plain } from '../testing/mesh.ts';
import type { FrameSocket } from '../transports/tcp/frame-socket.ts';
import { ANY } from '../wire/handshake.ts';
import type { Link } from './link.ts';
import { MeshNetwork } from './mesh-network.ts';
import { createRouter } from './routing.ts';

/** Returns the links of a hub to agents that send nothing, and the agents' ends. */
async function quietMesh(count: number, stallTimeoutMs?: number) {
  const ends = await Promise.all(Array.from({ length: count }, loopback));
  const network = await MeshNetwork.connect({
    runId: 'test',
    adapter: plain,
    secret: '',
    nodes: ends.map((_, port) => ({ id: ANY, tool: ANY, port, secret: '' })),
    dialler: { dial: async ({ port }) => ends[port]?.hub, where: ({ port }) => `end ${port}` },
    skipsHandshake: true,
    final: null,
    router: createRouter('broadcast'),
    maxFrameBytes: MAX_FRAME_BYTES,
    stallTimeoutMs,
  });
  onTestFinished(() => {
    network.close();
    for (const { agent } of ends) agent.destroy();
  });
  return network.links.map((link, index) => ({ link, agent: ends[index]?.agent }));
}

/** Stops the agent's reading, and queues more for it than may be. */
function fill({ link, agent }: { link: Link; agent: FrameSocket | undefined }): void {
  agent?.pause();
  while (link.socket.queuedBytes <= LINK_LIMITS.queueBytes) link.deliver(Buffer.alloc(1024 * 1024));
}

/** A connection that is being cut off takes bytes no more, and keeps none. */
const isCutOff = (link: Link) => link.socket.sendFrames(Buffer.alloc(1));

test('time in which the hub itself was stopped is one look, however long it was', async () => {
  const [end] = await quietMesh(1, 1000);
  if (end === undefined) throw new Error('no link');
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  fill(end);
  // Of all timers that a stopped process has missed, one is due.
  for (let looks = 1; looks < 4; looks++) {
    vi.advanceTimersToNextTimer();
    expect(isCutOff(end.link)).toBe(false);
  }
  vi.advanceTimersToNextTimer();
  expect(isCutOff(end.link)).toBe(true);
});

test('while one destination is full nobody is read from, and as long as any other is', async () => {
  const ends = await quietMesh(3);
  const isRead = () => ends.map(({ link }) => !(link.socket as FrameSocket).isPaused);
  const [first, second] = ends;
  if (first === undefined || second === undefined) throw new Error('no link');
  // Frames of nothing but zeros: any number of empty ones.
  for (const { agent } of ends) agent?.start(1024, () => undefined);
  expect(isRead()).toEqual([true, true, true]);
  fill(first);
  expect(isRead()).toEqual([false, false, false]);
  fill(second);
  first.agent?.resume();
  await first.link.socket.drained();
  await new Promise((resolve) => setImmediate(resolve));
  expect(isRead()).toEqual([false, false, false]);
  second.agent?.resume();
  await expect.poll(isRead).toEqual([true, true, true]);
});
