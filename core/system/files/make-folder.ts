import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { readSystemCode } from '../../contracts/errors.ts';

/**
 * Creates a folder and its missing parents. It avoids `mkdirSync` with `recursive`, which loops for ever in a
 * folder that refuses new ones with ENOENT, such as /proc.
 */
export function makeFolder(folder: string): void {
  const missing: string[] = [];
  for (let at = path.resolve(folder); !existsSync(at) && at !== path.dirname(at); at = path.dirname(at))
    missing.push(at);
  for (const name of missing.reverse()) {
    try {
      mkdirSync(name);
    } catch (error) {
      // Another process may have created it meanwhile.
      if (readSystemCode(error) !== 'EEXIST') throw error;
    }
  }
}
