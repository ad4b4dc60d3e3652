import { expect, test } from 'vitest';
import { MeshError } from '../../core/contracts/errors.ts';
import { emptyLine } from '../../core/contracts/ledger.ts';
import type { Round } from '../../core/recording/replay-mesh.ts';
import { Random } from '../../core/system/random.ts';
import { adapterNamed } from '../../protocols/registry.ts';
import { compareAdapters } from './compare-adapters.ts';

const RULE = { relativeHalfWidth: 0, minRounds: 1, maxRounds: 1000, budgetMs: 60_000 };

/** A mesh whose rounds take no time; it is interrupted before its `last` play. */
function meshUntil(last: number, controller: AbortController) {
  let played = 0;
  return {
    play: async ({ name }: { name: string }): Promise<Round> => {
      played += 1;
      if (played === last) controller.abort(new Error('interrupted'));
      controller.signal.throwIfAborted();
      const total = { ...emptyLine(), wire: 100 };
      const ledger = { types: {}, total, written: { packets: 1 }, read: { packets: 1 } };
      return {
        adapter: name,
        elapsedMs: 1 + played / 1000,
        ledger,
        sessionBytes: 1,
        encodeUs: 1,
        decodeUs: 1,
      } as unknown as Round;
    },
  };
}

async function compareUntil(last: number, lost: ReadonlySet<number> = new Set()) {
  const controller = new AbortController();
  const mesh = meshUntil(last, controller);
  let tried = 0;
  return compareAdapters({
    mesh: {
      play: async (adapter) => {
        tried += 1;
        if (lost.has(tried)) throw new MeshError('agent', 'agent 2 on port 9002: no handshake message');
        return mesh.play(adapter);
      },
    },
    adapters: [await adapterNamed('json'), await adapterNamed('cbor')],
    rule: RULE,
    random: new Random(1),
    bootstrapSeed: 1,
    onRound: () => undefined,
    onLost: () => undefined,
    signal: controller.signal,
  });
}

test('an interrupted comparison keeps the rounds that were played whole', async () => {
  // Two rounds of warm-up with 2 plays each, then rounds of 3 plays: the 4th is broken off in its middle.
  const { rounds, stopped, adapters } = await compareUntil(4 + 3 * 3 + 2);
  expect({ rounds, stopped }).toEqual({ rounds: 3, stopped: 'interrupted' });
  for (const adapter of adapters) expect(adapter.samples_us).toHaveLength(3);
});

test('one that is interrupted before its first round has nothing to report', async () => {
  await expect(compareUntil(5)).rejects.toThrow('interrupted');
});

test('a connection that does not come about costs its round, in the warm-up too, and no other', async () => {
  // Plays 1 and 2 are a round of the warm-up, 3 and 4 the other, 5 to 7 a round; the 8th is the first of the next one.
  const { rounds, lost_rounds, adapters } = await compareUntil(3 + 3 * 3 + 2, new Set([2, 8]));
  expect({ rounds, lost_rounds }).toEqual({ rounds: 3, lost_rounds: 2 });
  for (const adapter of adapters) expect(adapter.samples_us).toHaveLength(3);
});

test('connections that do not come about again and again end it, with the reason', async () => {
  await expect(compareUntil(1000, new Set([5, 6, 7, 8]))).rejects.toThrow('no handshake message');
});
