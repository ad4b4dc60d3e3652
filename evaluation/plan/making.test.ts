import { expect, test, vi } from 'vitest';
import { describeMaking } from './making.ts';

test.each([
  [['compare', '--write'], 'npm run compare -- --write'],
  [['compare'], 'npm run compare'],
  [['compare', '--fail-if', 'a2a.bytes > 2x json'], "npm run compare -- --fail-if 'a2a.bytes > 2x json'"],
  [['compare', "--team=it's"], "npm run compare -- '--team=it'\\''s'"],
  [
    ['compare', '--out=/home/me/x', '--adapters', 'json,/home/me/own.ts+zstd,./y.ts'],
    'npm run compare -- --adapters json,own.ts+zstd,./y.ts',
  ],
  [['gaia', '--team', 'all', '--out', '/home/me/a.jsonl', '--write'], 'npm run gaia -- --team all --write'],
  [['gaia', '--tables', '../own/tables.jsonl.gz'], 'npm run gaia -- --tables tables.jsonl.gz'],
])('the command %j is recorded as others can type it, without folders of this machine', (args, shown) => {
  expect(describeMaking(args).command).toBe(shown);
});

test('a key in a command is not recorded', () => {
  vi.stubEnv('MY_API_KEY', 'opensesame');
  expect(describeMaking(['gaia', '--host', 'http://opensesame@x']).command).not.toContain('opensesame');
  vi.unstubAllEnvs();
});
