import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { defineConfig } from 'vitest/config';

/** Rooms whose unit tests hold their promises: StrykerJS runs these tests for each of its mutants. */
export default defineConfig({
  test: {
    root: codeFolder,
    include: [
      'core/{agent,contracts,hub,recording,wire}/**/*.test.ts',
      'core/run/{agents/confinement,metrics/*}.test.ts',
      'evaluation/{scorers,statistics}/**/*.test.ts',
      'evaluation/serve/{ask-work,serve-team,served-team,turns}.test.ts',
      'protocols/stacks/a2a/foreign/*.test.ts',
      'protocols/stacks/mcp/foreign/foreign-{messages,server}.test.ts',
      'tools/foreign/*.test.ts',
    ],
    setupFiles: 'scripts/testing/each-file.ts',
    testTimeout: 150_000,
  },
});
