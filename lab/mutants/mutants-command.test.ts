import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { expect, test } from 'vitest';
import { plantMutant, readMutants } from './mutants-command.ts';

test.each(readMutants())('the bug “$breaks” has one place, and tests that exist', (mutant) => {
  const whole = readFileSync(path.join(codeFolder, mutant.file), 'utf8');
  expect(plantMutant(mutant, whole)).not.toBe(whole);
  for (const name of mutant.tests) expect(existsSync(path.join(codeFolder, name)), name).toBe(true);
});
