import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';

const guide = readFileSync(path.join(codeFolder, 'docs', 'extending.md'), 'utf8');

/**
 * Writes the whole files that `docs/extending.md` shows into `folder`: those of users, or those that belong to the
 * project.
 */
export function writeGuideFiles(folder: string, whose: 'users' | 'project'): void {
  for (const [, name = '', text = ''] of guide.matchAll(/```(?:ts|yaml)\n(?:\/\/|#) (\S+)\n([\s\S]*?)```/g)) {
    const isOfProject = name.includes('/') || name === 'numerals.yaml';
    if (isOfProject === (whose === 'project')) writeFileSync(path.join(folder, name), text);
  }
}

/** Inserts each line that the guide shows into the registry that it names. */
export function followRegistries(folder: string): void {
  for (const [, file = '', line = ''] of guide.matchAll(/lines? in `(\S+)`:\n\n```ts\n([\s\S]*?)\n```/g)) {
    const registry = path.join(folder, file);
    const text = readFileSync(registry, 'utf8');
    const [found] =
      text.match(/^(?:export )?const \w+(?:: (?:Readonly<)?Record<string, \w+>>?)? = \{\n/m) ?? [];
    if (found === undefined) throw new Error(`${file} has no registry`);
    writeFileSync(registry, text.replace(found, `${found}${line}\n`));
  }
}
