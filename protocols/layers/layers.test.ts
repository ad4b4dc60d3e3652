import { describe, expect, it } from 'vitest';
import { listContractChecks } from '../contract/suite.ts';
import { loadAdapter } from '../registry.ts';
import { layerNames, loadLayer } from './registry.ts';

/** Every layer alone, and all stages at once, must pass the contract of adapters. */
const around = [...layerNames, 'zstd+ed25519+aes-256-gcm+crc32c', 'deflate-dict+chacha20-poly1305'];
// A dictionary only changes an argument of the same compressor, so it is tested once.
const specs = [
  ...around.map((layers) => `json+${layers}`),
  ...around.filter((layers) => !layers.includes('-dict')).map((layers) => `msgpack+${layers}`),
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
