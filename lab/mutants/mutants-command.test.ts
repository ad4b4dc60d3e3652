import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { expect, test } from 'vitest';
import * as z from 'zod';

const rowSchema = z.object({
  breaks: z.string(),
  file: z.string(),
  find: z.string(),
  put: z.string(),
  tests: z.array(z.string()).min(1),
});
const rows = readFileSync(path.join(import.meta.dirname, 'mutants.jsonl'), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => rowSchema.parse(JSON.parse(line)));

test.each(rows)('the bug “$breaks” has one place, and tests that exist', ({ file, find, put, tests }) => {
  const whole = readFileSync(path.join(codeFolder, file), 'utf8');
  expect(whole.split(find)).toHaveLength(2);
  expect(put).not.toBe(find);
  for (const name of tests) expect(existsSync(path.join(codeFolder, name)), name).toBe(true);
});
