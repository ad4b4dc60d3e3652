import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['{core,store,protocols,tools,config,scripts}/**/*.test.ts'],
    // Tests with real processes wait for them to start; two cores share the work.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
  },
});
