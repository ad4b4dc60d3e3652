import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { readSystemCode } from '../../contracts/errors.ts';

/**
 * Makes a folder and those above it that are missing. Not by `mkdirSync` with `recursive`: where a folder refuses new ones with ENOENT, as
 * /proc does, it goes up and down for ever.
 */
export function makeFolder(folder: string): void {
  const missing: string[] = [];
  for (let at = path.resolve(folder); !existsSync(at) && at !== path.dirname(at); at = path.dirname(at))
    missing.push(at);
  for (const name of missing.reverse()) {
    try {
      mkdirSync(name);
    } catch (error) {
      // Somebody else has made it meanwhile.
      if (readSystemCode(error) !== 'EEXIST') throw error;
    }
  }
}
