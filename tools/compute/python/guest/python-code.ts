import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder with the programs that run beside a user's Python, with a separator at its end. */
export const codeFolder: string = path.dirname(fileURLToPath(import.meta.url)) + path.sep;

/** The text of one of them. */
export function readPythonCode(name: string): string {
  return readFileSync(path.join(codeFolder, name), 'utf8');
}
