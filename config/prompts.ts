import { readFileSync } from 'node:fs';
import path from 'node:path';
import { MeshError, messageOf } from '../core/errors.ts';
import { codeFolder } from './package-root.ts';

/**
 * The text of a prompt, `config/prompts/<name>.md`.
 *
 * @throws MeshError `config` when there is none
 */
export function promptNamed(name: string): string {
  const file = path.join(codeFolder, 'config', 'prompts', `${name}.md`);
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new MeshError('config', `prompt ${file}: ${messageOf(error)}`, { cause: error });
  }
}
