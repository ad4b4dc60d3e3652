import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the programs that run beside a user's Python, with a separator at its end. */
export const codeFolder: string = path.dirname(fileURLToPath(import.meta.url)) + path.sep;

/** Returns the text of one of these programs. */
export function readPythonCode(name: string): string {
  return readFileSync(path.join(codeFolder, name), 'utf8');
}
