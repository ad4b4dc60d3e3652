import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { codeFolder } from '../../core/system/package-root.ts';

/**
 * Gives a copy of the checkout in `folder` the checkout's packages: a folder of its own with a link to each, so that what the copy
 * puts there, such as its bundle, does not replace that of the checkout.
 */
export function linkPackages(folder: string): void {
  const packages = path.join(codeFolder, 'node_modules');
  const own = path.join(folder, 'node_modules');
  mkdirSync(own);
  for (const name of readdirSync(packages)) {
    if (name !== '.cache') symlinkSync(path.join(packages, name), path.join(own, name));
  }
}
