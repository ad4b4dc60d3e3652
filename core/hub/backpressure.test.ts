import { expect, onTestFinished, test, vi } from 'vitest';
import { LINK_LIMITS } from '../contracts/limits.ts';
import { quietLink } from '../testing/quiet-link.ts';
import type { FrameSocket } from '../transports/tcp/frame-socket.ts';
import type { Link } from './link.ts';
import { Backpressure } from './mesh-network.ts';

/** A link whose agent reads nothing, with more queued than may be, and the backpressure that has seen it. */
async function fullLink(stallTimeoutMs: number) {
  const { link, agent } = await quietLink('b');
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  agent.pause();
  const backpressure = new Backpressure([link], stallTimeoutMs);
  while (link.socket.queuedBytes <= LINK_LIMITS.queueBytes) link.deliver(Buffer.alloc(1024 * 1024));
  backpressure.check(link);
  return link;
}

/** A connection that is being cut off takes bytes no more, and keeps none. */
const isCutOff = (link: Link) => link.socket.sendFrames(Buffer.alloc(1));

test('time in which the hub itself was stopped is one look, however long it was', async () => {
  const link = await fullLink(1000);
  // Of all timers that a stopped process has missed, one is due.
  for (let looks = 1; looks < 4; looks++) {
    vi.advanceTimersToNextTimer();
    expect(isCutOff(link)).toBe(false);
  }
});

test('while one destination is full nobody is read from, and as long as any other is', async () => {
  const ends = await Promise.all(['a', 'b', 'c'].map((id) => quietLink(id)));
  const links = ends.map(({ link }) => link);
  const backpressure = new Backpressure(links);
  const isRead = () => links.map(({ socket }) => !(socket as FrameSocket).isPaused);
  const fill = ({ link, agent }: (typeof ends)[number]) => {
    agent.pause();
    while (link.socket.queuedBytes <= LINK_LIMITS.queueBytes) link.deliver(Buffer.alloc(1024 * 1024));
    backpressure.check(link);
  };
  const [first, second] = ends;
  if (first === undefined || second === undefined) throw new Error('no link');
  // Frames of nothing but zeros: any number of empty ones.
  for (const { agent } of ends) agent.start(1024, () => undefined);
  expect(isRead()).toEqual([true, true, true]);
  fill(first);
  expect(isRead()).toEqual([false, false, false]);
  fill(second);
  first.agent.resume();
  await first.link.socket.drained();
  await new Promise((resolve) => setImmediate(resolve));
  expect(isRead()).toEqual([false, false, false]);
  second.agent.resume();
  await expect.poll(isRead).toEqual([true, true, true]);
});
