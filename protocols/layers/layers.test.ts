import { describe, expect, it } from 'vitest';
import { listContractChecks } from '../contract/suite.ts';
import { loadAdapter } from '../registry.ts';
import { layerNames, loadLayer } from './registry.ts';

/** Every layer alone, and all stages at once, must pass the contract of adapters. */
const stages = ['zstd+ed25519+aes-256-gcm+crc32c', 'deflate-dict+chacha20-poly1305'];
// A layer is given bytes and does not know whose: bytes that are no text go through all stages at once.
const specs = [
  ...layerNames.map((layers) => `json+${layers}`),
  ...stages.map((layers) => `msgpack+${layers}`),
];

for (const spec of specs) {
  const adapter = await loadAdapter(spec);

  describe(`contract of ${spec}`, () => {
    it('bears the name it was asked for', () => expect(adapter.name).toBe(spec));
    for (const check of listContractChecks(adapter)) it(check.name, () => check.run());
  });
}

it.each(layerNames)('%s bears the name it is registered under', async (name) => {
  expect((await loadLayer(name)).name).toBe(name);
});
