import { readFileSync } from 'node:fs';
import path from 'node:path';
import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';

/**
 * The text of a prompt, `config/prompts/<name>.md`.
 *
 * @throws MeshError `config` when there is none
 */
export function loadPrompt(name: string): string {
  const file = path.join(codeFolder, 'config', 'prompts', `${name}.md`);
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new MeshError('config', `prompt ${file}: ${toErrorMessage(error)}`, { cause: error });
  }
}

/**
 * The text of any prompt, where `file` holds the one that an agent is to use instead of its own: an agent has one prompt, so the
 * name does not matter.
 *
 * @throws MeshError `config` when there is no such file
 */
export function createPromptLoader(file: string): (name: string) => string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new MeshError('config', `prompt ${file}: ${toErrorMessage(error)}`, { cause: error });
  }
  return () => text;
}
