import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';

/** Builds before the tests: commands that tests start run from `dist/`, as a user's do. */
export function setup(): void {
  execFileSync(process.execPath, [path.join(codeFolder, 'scripts', 'build.js')], { stdio: 'inherit' });
}
