import childProcess from 'node:child_process';
import { existsSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { cleanUpAfterFile } from '@gaia-mesh/core/testing/after-file.ts';
import { afterAll, beforeAll, expect, vi } from 'vitest';

const { spawn } = childProcess;
/**
 * Starts the processes of jobs from `dist/`, which was built before the tests. They may not write, so that each would compile all of
 * its sources again, which takes longer than most jobs. Programs without a bundle, such as the tests' own jobs, run from their source.
 */
function spawnJobFromBundle(...[program, args, options]: Parameters<typeof spawn>) {
  const isJob = options?.env?.GAIA_MESH_JOB !== undefined;
  return spawn(program, isJob ? args.map(toBundle) : args, options);
}

function toBundle(argument: string): string {
  const name = path.relative(codeFolder, argument).replace(/\.ts$/, '').replaceAll(path.sep, '.');
  const bundle = path.join(codeFolder, 'dist', `${name}.js`);
  return path.isAbsolute(argument) && argument.endsWith('.ts') && existsSync(bundle) ? bundle : argument;
}

// Files share their worker's process (see vitest.config.ts): each leaves it as it found it.
let environment: NodeJS.ProcessEnv;
let folder: string;

// The setup runs for each file, in the same process.
if (spawn.name !== spawnJobFromBundle.name) {
  Object.assign(childProcess, { spawn: spawnJobFromBundle });
  syncBuiltinESMExports();
}

beforeAll(() => {
  environment = { ...process.env };
  folder = process.cwd();
});

afterAll(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  cleanUpAfterFile();
  expect({ ...process.env }, 'the file changed the environment: vi.stubEnv takes a change back').toEqual(
    environment,
  );
  expect(process.cwd(), 'the file changed the working folder').toBe(folder);
});
