import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { explainFileFault, MeshError, readSystemCode } from '@gaia-mesh/core/contracts/errors.ts';
import { createUnknownError } from '@gaia-mesh/core/contracts/registry.ts';
import { readUserText } from '@gaia-mesh/core/system/files/user-file.ts';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';

/** Maximum bytes of a prompt; a model reads less. */
const MAX_PROMPT_BYTES = 1024 * 1024;

/**
 * Returns the text of a prompt, `config/prompts/<name>.md`.
 *
 * @throws MeshError `usage` if there is none, `config` if it cannot be read
 */
export function loadPrompt(name: string): string {
  const folder = path.join(codeFolder, 'config', 'prompts');
  const file = path.join(folder, `${name}.md`);
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (readSystemCode(error) !== 'ENOENT')
      throw new MeshError('config', `prompt ${file}: ${explainFileFault(error)}`, { cause: error });
    const names = readdirSync(folder).map((entry) => path.basename(entry, '.md'));
    throw createUnknownError(
      'prompt',
      name,
      names.filter((known) => known !== 'README'),
    );
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
