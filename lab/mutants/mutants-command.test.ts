import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { describe, expect, test } from 'vitest';
import { runLab } from '../testing/run-lab.ts';
import { mutants } from './mutants-command.ts';
import { plantMutant } from './run-mutants.ts';

describe('a bug to plant', () => {
  test.each(mutants)('$breaks: has one place, and tests that are there', (mutant) => {
    const whole = readFileSync(path.join(codeFolder, mutant.file), 'utf8');
    expect(plantMutant(mutant, whole)).not.toBe(whole);
    for (const name of mutant.tests) expect(existsSync(path.join(codeFolder, name)), name).toBe(true);
  });
});

test('the command plants a bug in a copy, says whether a test finds it, and leaves the project as it is', async () => {
  const file = path.join(codeFolder, 'core', 'wire', 'run-secret.ts');
  const before = readFileSync(file, 'utf8');

  const { code, stdout, stderr } = await runLab(['lab:mutants', '--only', 'may be guessed', '--json']);

  expect([code, stderr]).toEqual([0, expect.stringContaining('✓ core/wire/run-secret.ts')]);
  expect(JSON.parse(stdout)).toMatchObject({ share: 1, tried: [{ outcome: 'killed' }] });
  expect(readFileSync(file, 'utf8')).toBe(before);
});
