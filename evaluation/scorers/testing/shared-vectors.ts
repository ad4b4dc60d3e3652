import { existsSync, readFileSync } from 'node:fs';
import * as z from 'zod';

/**
 * The lines of a vector file in the folder `shared/data` beside the repository, for tests only: the files are
 * not part of it. Where one is absent the test that wants it is skipped, and this says so.
 */
export function sharedVectors<T>(path: string, line: z.ZodType<T>): T[] {
  const url = new URL(`../../../../shared/data/${path}`, import.meta.url);
  if (!existsSync(url)) {
    console.warn(`skipped: the test needs ../shared/data/${path} beside the repository`);
    return [];
  }
  return z.array(line).parse(
    readFileSync(url, 'utf8')
      .split('\n')
      .filter((text) => text !== '')
      .map((text) => JSON.parse(text)),
  );
}
