import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { shareBrowser } from '@gaia-mesh/evaluation/report/testing/browser.ts';
import type { TestProject } from 'vitest/node';

/** Builds before the tests, since commands that tests start run from `dist/` as a user's do, and opens a browser for all tests. */
export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  // Tests start some programs from their sources, so that Node keeps their compiled code here.
  process.env.NODE_COMPILE_CACHE ??= path.join(codeFolder, 'node_modules', '.cache', 'tests');
  execFileSync(process.execPath, [path.join(codeFolder, 'scripts', 'build.js')], { stdio: 'inherit' });
  const browser = await shareBrowser();
  provide('browserUrl', browser.url);
  return browser.close;
}
