import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { defineConfig } from 'vitest/config';

/** Rooms whose unit tests hold their promises: StrykerJS runs these tests for each of its mutants. */
export default defineConfig({
  test: {
    root: codeFolder,
    include: ['core/{agent,contracts,hub,recording,wire}/**/*.test.ts'],
    setupFiles: 'scripts/testing/each-file.ts',
    testTimeout: 150_000,
  },
});
