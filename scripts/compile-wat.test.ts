import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { compiledScan } from './compile-wat.ts';

test('the module that ships is what its text says: else npm run wasm', async () => {
  const kept = readFileSync(new URL('../protocols/json-scan.wasm.ts', import.meta.url), 'utf8');
  expect(kept).toBe(await compiledScan());
});
