import { mkdirSync, readdirSync, realpathSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';

/** The scope of the project's own packages, which are folders of the copy. */
const OWN = '@gaia-mesh';

/**
 * Gives a copy of the checkout in `folder` the checkout's packages: a folder of its own with a link to each, so that
 * files that the copy writes there, such as its bundle, do not replace those of the checkout.
 */
export function linkPackages(folder: string): void {
  const packages = path.join(codeFolder, 'node_modules');
  const own = path.join(folder, 'node_modules');
  mkdirSync(own);
  for (const name of readdirSync(packages)) {
    if (name !== '.cache' && name !== OWN) symlinkSync(path.join(packages, name), path.join(own, name));
  }
  mkdirSync(path.join(own, OWN));
  for (const name of readdirSync(path.join(packages, OWN))) {
    const inside = path.relative(codeFolder, realpathSync(path.join(packages, OWN, name)));
    symlinkSync(path.join(folder, inside), path.join(own, OWN, name));
  }
}
