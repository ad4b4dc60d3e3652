import { contractSamples } from '@gaia-mesh/protocols/contract/samples.ts';
import { expect, test } from 'vitest';
import { withPair } from '../contract/pair.ts';
import { testStack } from '../testing/stack-contract.ts';
import { mcpHttpBare } from './bare/stacks.ts';
import { mcpHttpSdk } from './sdk/stacks.ts';
import { mcpStdioBare, mcpStdioSdk } from './stdio/stacks.ts';

const stacks = [mcpHttpBare, mcpHttpSdk, mcpStdioBare, mcpStdioSdk];

for (const stack of stacks) testStack(stack);

// The contract tests results as values, so these are the other two forms. Over stdio the same messages travel.
for (const stack of [mcpHttpBare, mcpHttpSdk]) {
  test.each(['text', 'both'] as const)(
    `${stack.name} ${stack.implementation}: results as %s`,
    async (results) => {
      const packets = contractSamples.map(({ packet }) => packet).slice(0, 6);
      await withPair(
        stack,
        async (packet) => [packet],
        { results },
        async ({ ask }) => {
          for (const packet of packets) expect(await ask(packet)).toEqual([packet]);
        },
      );
    },
  );
}
