import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { measureReader } from './embedded-command.ts';

// The development questions are not part of the repository (their licences ask for attribution beside them).
const FILE = fileURLToPath(new URL('../../../shared/data/qa/dev.jsonl', import.meta.url));
const absent = !existsSync(FILE);
if (absent) console.warn(`figures.release.test.ts is skipped: no development questions at ${FILE}`);

test.skipIf(absent)('the reader answers at least the promised share exactly', { timeout: 600_000 }, () => {
  const parts = measureReader(FILE);
  const floors = { 'squad-p': 0.47, nq: 0.43, 'squad-d': 0.43, hotpot: 0.18 };
  for (const [part, floor] of Object.entries(floors))
    expect(parts[part]?.exact, part).toBeGreaterThanOrEqual(floor);
  const rows = Object.values(parts);
  const questions = rows.reduce((sum, part) => sum + part.questions, 0);
  const right = rows.reduce((sum, part) => sum + part.exact * part.questions, 0);
  expect(right / questions).toBeGreaterThanOrEqual(0.37);
});
