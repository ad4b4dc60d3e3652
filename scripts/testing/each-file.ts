import { cleanUpAfterFile } from '@gaia-mesh/core/testing/after-file.ts';
import { afterAll, beforeAll, expect, vi } from 'vitest';

// Files share their worker's process (see vitest.config.ts): each leaves it as it found it.
let environment: NodeJS.ProcessEnv;
let folder: string;

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
