import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { codeFolder } from '../../core/system/package-root.ts';

/** Before the tests: commands start from the bundle, as a user's do, also where a source has changed since the installation. */
export function setup(): void {
  execFileSync(process.execPath, [path.join(codeFolder, 'scripts', 'bundle.js')], { stdio: 'inherit' });
}
