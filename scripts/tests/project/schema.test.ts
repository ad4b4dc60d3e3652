import { readFileSync } from 'node:fs';
import path from 'node:path';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { expect, test } from 'vitest';
import { callCli } from '../../testing/call-cli.ts';

test('config/team.schema.json is what `npm run schema` writes', async () => {
  const written = readFileSync(path.join(codeFolder, 'config', 'team.schema.json'), 'utf8');

  // Biome formats the file after it was written, so what counts is what it says.
  expect(JSON.parse(written)).toEqual(JSON.parse((await callCli(['schema'])).stdout));
});
