import { readFileSync } from 'node:fs';
import path from 'node:path';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { expect, test } from 'vitest';
import { runLab } from '../testing/run-lab.ts';

/** The comparisons are started as a user would, since the runner reads what they leave. */
test('docs/claims.md has each claim as bytes decide it now (npm run claims -- --write)', async () => {
  const { code, stdout, stderr } = await runLab(['claims']);

  expect(code, stderr).toBe(0);
  const page = readFileSync(path.join(codeFolder, 'docs', 'claims.md'), 'utf8');
  const claims = stdout
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| published'));
  expect(claims.length).toBeGreaterThan(6);
  // Claims about time are measured by hand, on an idle machine.
  for (const claim of claims) if (!claim.includes('| not measured |')) expect(page).toContain(claim);
}, 180_000);
