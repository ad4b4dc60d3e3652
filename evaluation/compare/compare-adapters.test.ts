import { expect, test } from 'vitest';
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

async function compareUntil(last: number) {
  const controller = new AbortController();
  return compareAdapters({
    mesh: meshUntil(last, controller),
    adapters: [await adapterNamed('json'), await adapterNamed('cbor')],
    rule: RULE,
    random: new Random(1),
    bootstrapSeed: 1,
    onRound: () => undefined,
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
