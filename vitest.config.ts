import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    globalSetup: 'scripts/testing/bundle-setup.ts',
    include: ['{core,protocols,tools,evaluation,scripts,lab}/**/*.test.ts'],
    // They end what hangs, after `scripts/testing/cli.ts` had time to say what it was: how long real processes take that share two
    // cores with others has no bound.
    testTimeout: 150_000,
    hookTimeout: 150_000,
    // What is polled for is another process's or the network's turn, whose time has no bound on a busy machine: 1 s, the default,
    // may not be enough for a process to start. It costs no time where it comes, and is far below a test's own.
    expect: { poll: { timeout: 20_000 } },
    // Real processes on a machine that others use: one failure in seven thousand tests is tried again there, and named in the report.
    retry: process.env.CI === 'true' ? 1 : 0,
    // More than there are cores: tests with real processes wait much of their time.
    maxWorkers: availableParallelism() + 2,
  },
});
