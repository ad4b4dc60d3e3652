import { describe, expect, it } from 'vitest';
import { listContractChecks } from '../contract/suite.ts';
import { loadAdapter } from '../registry.ts';
import { layerNames, loadLayer } from './registry.ts';

/** All stages at once must pass the whole contract of adapters, and every layer alone what it says about bytes. */
const WHOLE = 'msgpack+zstd+ed25519+aes-256-gcm+crc32c';
/** A layer is given bytes and does not know whose, so that checks about keys and values of packets say nothing of it. */
const ABOUT_BYTES = [
  'round trip: all keys',
  'round trip of random packets',
  'headerSize is the ledger definition',
  'every byte is on one line of the ledger',
  'layers add the same to every packet, and never more',
  'a blob that was handed out is not written again',
  'a decoded packet keeps nothing of the bytes it came in',
  'a blob cut at any byte is refused',
  'a flipped bit is refused or gives another valid packet',
  'random bytes are refused',
];

for (const spec of [
  ...layerNames.map((layer) => `json+${layer}`),
  'msgpack+deflate-dict+chacha20-poly1305',
  WHOLE,
]) {
  const adapter = await loadAdapter(spec);
  const checks = listContractChecks(adapter).filter(
    ({ name }) => spec === WHOLE || ABOUT_BYTES.includes(name),
  );

  describe(`contract of ${spec}`, () => {
    it('bears the name it was asked for', () => {
      expect(adapter.name).toBe(spec);
      expect(checks.length).toBeGreaterThanOrEqual(ABOUT_BYTES.length);
    });
    for (const check of checks) it(check.name, () => check.run());
  });
}

it.each(layerNames)('%s bears the name it is registered under', async (name) => {
  expect((await loadLayer(name)).name).toBe(name);
});
