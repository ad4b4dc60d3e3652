import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

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
  'lab/fuzz/hostile-bytes.test.ts',
  'protocols/layers/compression.test.ts',
];

/** Tests that need minutes, such as those of endurance: `npm run test:release` runs them before a release. */
const RELEASE = '{core,protocols,tools,evaluation,scripts,lab}/**/*.release.test.ts';
/** A test that asks a real model more questions then. */
const REAL_MODEL = 'scripts/tests/gaia/real-model.test.ts';

/**
 * The files that take longest, the longest first. They begin before all others, also in a fresh clone, where Vitest knows sizes alone:
 * a run that ends with one of them waits for one worker while the others have nothing left to do.
 */
const LONGEST = [
  'scripts/tests/gaia/real-model.test.ts',
  'protocols/layers/layers.test.ts',
  'protocols/contract.test.ts',
  'protocols/stacks/mcp/mcp-stacks.test.ts',
  'scripts/tests/project/package.test.ts',
  'lab/fuzz/fuzz.test.ts',
  'tools/compute/python/python-tools.test.ts',
  'tools/compute/python/python-escapes.test.ts',
  'protocols/stacks/a2a/a2a-stacks.test.ts',
  'scripts/tests/commands/hub.test.ts',
  'protocols/stacks/plain/plain.test.ts',
  'scripts/tests/commands/conformance.test.ts',
  'scripts/tests/serve/serve-suites.test.ts',
  'scripts/tests/project/extending.test.ts',
  'scripts/tests/project/readme.test.ts',
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    // Projects stay apart: their workers differ.
    const projects = [...new Set(sorted.map(({ project }) => project))];
    const rank = ({ project, moduleId }: TestSpecification) => {
      const place = LONGEST.findIndex((file) => moduleId.endsWith(file));
      return projects.indexOf(project) * 1000 + (place === -1 ? LONGEST.length : place);
    };
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}

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
    // What is polled for is another process's or the network's turn, whose time has no bound on a busy machine: 1 s, the default,
    // may not be enough for a process to start. It costs no time where it comes, and is far below a test's own.
    expect: { poll: { timeout: 20_000 } },
    // Real processes on a machine that others use: one failure in seven thousand tests is tried again there, and named in the report.
    retry: process.env.CI === 'true' ? 1 : 0,
    // More than there are cores: tests with real processes wait much of their time.
    maxWorkers: availableParallelism() + 2,
    sequence: { sequencer: LongestFirst },
    projects:
      mode === 'release'
        ? [
            {
              extends: true,
              test: { name: 'release', include: [RELEASE, REAL_MODEL], env: { GAIA_MESH_RELEASE: 'true' } },
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
