import { readFileSync } from 'node:fs';
import path from 'node:path';
import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { readUserText } from '@gaia-mesh/core/system/files/user-file.ts';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';

/** Maximum bytes of a prompt; a model reads less. */
const MAX_PROMPT_BYTES = 1024 * 1024;

/**
 * Returns the text of a prompt, `config/prompts/<name>.md`.
 *
 * @throws MeshError `config` if there is none
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
 * Returns a loader that gives the text of `file` for every name: the user replaces an agent's prompt, and an agent has only one.
 *
 * @throws MeshError `config` if there is no such file
 */
export function createPromptLoader(file: string): (name: string) => string {
  const text = readUserText(file, { what: 'prompt', maxBytes: MAX_PROMPT_BYTES });
  return () => text;
}
