import { contractSamples } from '@gaia-mesh/protocols/contract/samples.ts';
import { expect, test } from 'vitest';
import { withPair } from '../contract/pair.ts';
import { testStack } from '../testing/stack-contract.ts';
import { mcpHttpBare } from './bare/stacks.ts';
import { mcpHttpSdk } from './sdk/stacks.ts';
import { mcpStdioBare, mcpStdioSdk } from './stdio/stacks.ts';

for (const stack of [mcpHttpBare, mcpHttpSdk]) testStack(stack);

/** Over pipes each check starts processes: those of what HTTP does otherwise are always run, and all of them before a release. */
const PIPES =
  /^(packets arrive|several exchanges|work that fails|an exchange ends at|every byte is|a server that)/;
const isRelease = process.env.GAIA_MESH_RELEASE === 'true';
for (const stack of [mcpStdioBare, mcpStdioSdk]) testStack(stack, isRelease ? /./ : PIPES);

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
