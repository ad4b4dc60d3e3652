import { layerNames } from '@gaia-mesh/protocols/layers/registry.ts';
import { adapterNames } from '@gaia-mesh/protocols/registry.ts';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { createAdapterTarget, createLayerTarget } from './codecs.ts';
import { doors } from './doors.ts';
import { framing } from './framing.ts';
import { handshake } from './handshake.ts';
import { hub } from './hub.ts';
import { readers } from './readers.ts';
import { Defect, type FuzzTarget, fuzzTarget } from './target.ts';

/** Stacks of each kind: compressed, signed, encrypted, and all at once. */
const STACKS = [
  'json+zstd',
  'cbor+deflate-dict+crc32c',
  'json+ed25519',
  'toon+brotli+aes-256-gcm',
  'msgpack+zstd-dict+ed25519+chacha20-poly1305+crc32c',
];

/** Everything that reads bytes of others; `volume.ts` beside them takes minutes. */
const fuzzTargets: readonly FuzzTarget[] = [
  framing,
  ...adapterNames.map((name) => createAdapterTarget(`adapter:${name}`, name)),
  ...layerNames.map(createLayerTarget),
  ...STACKS.map((spec) => createAdapterTarget(`stack:${spec}`, spec)),
  handshake,
  hub,
  ...readers,
  ...doors,
];

/** `npm run fuzz` draws more cases. */
const RUNS = Number(process.env.FUZZ_RUNS ?? 10);
/** Another one every time: what one run misses the next may find. A failure prints it. */
const SEED = Number(process.env.FUZZ_SEED ?? Date.now() % 2 ** 31);
const MS_PER_CASE = 2_000;

test.each(fuzzTargets)(
  '$name stands hostile cases',
  async (target) => {
    // A damaged document mostly ends the thread that reads it.
    const runs = target.name.startsWith('document:') ? Math.ceil(RUNS / 5) : RUNS;
    const again = `FUZZ_SEED=${SEED} FUZZ_RUNS=${RUNS} npm run fuzz -- -t ${target.name}`;
    expect(await target.fuzz({ seed: SEED, runs }), again).toBeNull();
  },
  150_000 + RUNS * MS_PER_CASE,
);

test('a failure is the smallest case, with its bytes; the same seed draws the same cases', async () => {
  const drawn: Uint8Array[][] = [[], []];
  const breaking = (seen: Uint8Array[]) =>
    fuzzTarget('broken', fc.uint8Array(), async () => (bytes) => {
      seen.push(bytes);
      if (bytes.some((byte) => byte > 99)) throw new Defect('above 99', bytes);
    });
  for (const seen of drawn) {
    expect(await breaking(seen).fuzz({ seed: 7, runs: 40 })).toEqual({
      counterexample: 'Uint8Array.from([100])',
      reason: 'above 99\nbytes: 64',
    });
  }
  expect(drawn[0]).toEqual(drawn[1]);
});

test('a case that fails after minutes is a failure, and ends the shrinking', async () => {
  vi.useFakeTimers();
  let tried = 0;
  const slow = fuzzTarget('slow', fc.array(fc.nat(), { minLength: 5 }), async () => async () => {
    tried += 1;
    await vi.advanceTimersByTimeAsync(70_000);
    throw new Defect('late');
  });
  const failure = await slow.fuzz({ seed: 7, runs: 3 });
  vi.useRealTimers();

  expect(failure?.reason).toBe('late');
  expect(tried).toBeLessThanOrEqual(3);
});
