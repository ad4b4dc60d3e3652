import { expect, test } from 'vitest';
import { contractSamples } from '../../contract/samples.ts';
import { withPair } from '../contract/pair.ts';
import { bindingContract } from '../testing/binding-contract.ts';
import { mcpHttpBare } from './bare/bindings.ts';
import { mcpHttpSdk } from './sdk/bindings.ts';
import { mcpStdioBare, mcpStdioSdk } from './stdio/bindings.ts';

const bindings = [mcpHttpBare, mcpHttpSdk, mcpStdioBare, mcpStdioSdk];

for (const binding of bindings) {
  bindingContract(binding);

  // The contract has results as values.
  test.each(['text', 'both'] as const)(
    `${binding.name} ${binding.implementation}: results as %s`,
    async (results) => {
      const packets = contractSamples.map(({ packet }) => packet).slice(0, 6);
      await withPair(
        binding,
        async (packet) => [packet],
        { results },
        async ({ ask }) => {
          for (const packet of packets) expect(await ask(packet)).toEqual([packet]);
        },
      );
    },
  );
}
