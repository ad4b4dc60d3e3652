import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { combineArms, toStackSettings } from './arms.ts';
import { openPairSession } from './invocation.ts';
import { Pair } from './peers/pair.ts';
import { framedTcp } from './testing/framed-tcp.ts';
import { buildEchoes } from './workload.ts';

/** What settings do to real stacks, by counts where there is something to count. */

const exchanges = buildEchoes(256, 1);
const over = new AbortController();
let pair: Pair | undefined;
afterEach(() => pair?.stop());

/** Returns the settings that factors give a stack which takes all of them. */
function settingsOf(factors: readonly string[]) {
  const [arm] = combineArms([{ stack: framedTcp }], factors).arms;
  if (arm === undefined) throw new Error('expected an arm');
  return toStackSettings(arm.settings, null);
}

async function started(name: string, factor: string, workMs = 0): Promise<Pair> {
  const settings = settingsOf([factor]);
  pair = await Pair.start(
    { stack: { name, implementation: 'bare' }, settings, exchanges, workMs },
    over.signal,
  );
  return pair;
}

const TEN_AT_ONCE = { kind: 'closed', count: 40, concurrency: 10, maxMs: 30_000 } as const;

test.each([
  ['json/unix', 1],
  ['json/http1', 4],
  ['a2a/jsonrpc', 4],
] as const)('%s opens no more than %i connections, and so many', async (name, connections) => {
  const { wire } = await (await started(name, `connections=${connections}`, 5)).play(TEN_AT_ONCE);
  const own = await pair?.count();
  expect(own?.[0].client?.connections).toBe(connections);
  expect(wire.sent.messages).toBeGreaterThanOrEqual(40);
});

test('a pool of one has what cannot multiplex wait: 40 exchanges of 10 ms take 400 ms, ten at once or not', async () => {
  const { elapsedMs } = await (await started('json/http1', 'connections=1', 10)).play(TEN_AT_ONCE);
  expect(elapsedMs).toBeGreaterThan(400);
});

test.each(['json/http1', 'a2a/jsonrpc'])(
  '%s: without keep-alive each exchange has a connection',
  async (name) => {
    const load = { kind: 'closed', count: 10, concurrency: 1, maxMs: 30_000 } as const;
    const own = await started(name, 'keepalive=0');
    const before = (await own.count())[0].client?.connections ?? 0;
    expect((await own.play(load)).wire.connections).toBeGreaterThanOrEqual(9);
    expect(((await own.count())[0].client?.connections ?? 0) - before).toBeGreaterThanOrEqual(9);
    await own.stop();
    const kept = await started(name, 'keepalive=60000');
    expect((await kept.play(load)).wire.connections).toBeLessThanOrEqual(1);
  },
);

/** Plays what an invocation counts of a stack behind a network. */
async function countBehindNetwork(stack: Parameters<typeof openPairSession>[0]['stack']) {
  const settings = settingsOf([]);
  const network = { rttMs: 30, bitsPerS: 1e9 };
  const load = { budgetMs: 400, rounds: 1, concurrency: [1], ratePerS: 20, maxInFlight: 16 };
  const session = await openPairSession(
    { stack, settings, exchanges, workMs: 0, network },
    { ...load, countsBytes: true, raisesLoad: false },
    { block: 0, isNull: false, plannedEndMs: performance.now() + 60_000, signal: over.signal },
  );
  try {
    await session.begin();
    return session.result().roundTrips;
  } finally {
    await session.stop();
  }
}

test('a network between the ends sees a round trip of the set-up, and one of each exchange', async () => {
  const roundTrips = await countBehindNetwork({ name: 'json/http1', implementation: 'bare' });
  // A pool may open one more connection, whose handshake is counted where it falls.
  expect(Math.floor(roundTrips?.exchange ?? 0)).toBe(1);
  expect(roundTrips?.setup).toBeGreaterThanOrEqual(1);
  expect(roundTrips?.firstAnswerMs).toBeGreaterThan(60);
});

test('a stack of the user that goes past the network is not measured as if it passed it', async () => {
  const file = path.join(import.meta.dirname, 'testing', 'framed-tcp.ts');
  await expect(countBehindNetwork({ name: 'framed/tcp', implementation: 'bare', file })).rejects.toThrow(
    'the connections of framed/tcp do not pass the network',
  );
});
