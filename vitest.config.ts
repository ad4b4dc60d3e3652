import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/**
 * Files that need a process of their own, since the whole process is their subject. All others share few workers, which saves a start
 * and an import of hundreds of modules for each: `scripts/testing/each-file.ts` fails a file that leaves the process changed.
 */
const ALONE = [
  // The readers of a process share one bound for memory.
  'core/wire/large-frames.test.ts',
  'core/wire/many-readers.test.ts',
  // Flags of V8 are set for a whole process.
  'tools/http/fetch.test.ts',
  // The memory and the processor time of the whole process are measured.
  'core/wire/frame.test.ts',
  'protocols/layers/compression.test.ts',
];

/** Tests that need minutes, such as those of endurance: `npm run test:release` runs them before a release. */
const RELEASE = '{core,protocols,tools,evaluation,scripts,lab}/**/*.release.test.ts';
/** Tests that have more to try then: teams with a real model, stacks in other languages and on pipes, relays of others, and what npm says of the package. */
const LARGER = [
  'scripts/tests/gaia/real-model.test.ts',
  'scripts/tests/project/package.test.ts',
  'protocols/stacks/languages/languages.test.ts',
  'protocols/stacks/a2a/a2a-stacks.test.ts',
  'protocols/stacks/mcp/mcp-stacks.test.ts',
  'lab/relay/carry.test.ts',
];

export default defineConfig(({ mode }) => ({
  test: {
    globalSetup: 'scripts/testing/bundle-setup.ts',
    setupFiles: 'scripts/testing/each-file.ts',
    // Node runs the sources, tests and all, as it runs them elsewhere: nothing is transformed, and what it compiled is kept.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // They end what hangs, after `scripts/testing/cli.ts` had time to say what it was: how long real processes take that share two
    // cores with others has no bound.
    testTimeout: 150_000,
    hookTimeout: 150_000,
    // A poll waits for another process or for the network, whose time has no bound on a busy machine: 1 s, the default, may not be
    // enough for a process to start. The limit costs no time where the event comes, and is far below that of a test.
    expect: { poll: { timeout: 20_000 } },
    // Real processes on a machine that others use: one failure in seven thousand tests is tried again there, and named in the report.
    retry: process.env.CI === 'true' ? 1 : 0,
    // More than there are cores: tests with real processes wait much of their time.
    maxWorkers: availableParallelism() + 2,
    projects:
      mode === 'release'
        ? [
            {
              extends: true,
              test: { name: 'release', include: [RELEASE, ...LARGER], env: { GAIA_MESH_RELEASE: 'true' } },
            },
          ]
        : [
            { extends: true, test: { name: 'alone', include: ALONE } },
            {
              extends: true,
              test: {
                name: 'shared',
                include: ['{core,protocols,tools,evaluation,scripts,lab}/**/*.test.ts'],
                exclude: [...ALONE, RELEASE],
                isolate: false,
              },
            },
          ],
  },
}));
