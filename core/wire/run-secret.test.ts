import { expect, test } from 'vitest';
import { readRunSecret } from './run-secret.ts';

test('a secret that could be guessed is refused, without being shown', () => {
  expect(readRunSecret({})).toBe('');
  expect(readRunSecret({ GAIA_MESH_SECRET: '' })).toBe('');
  expect(readRunSecret({ GAIA_MESH_SECRET: 'x'.repeat(16) })).toBe('x'.repeat(16));
  expect(() => readRunSecret({ GAIA_MESH_SECRET: 'hunter2' })).toThrow(
    /GAIA_MESH_SECRET has 7 characters: expected at least 16/,
  );
  expect(() => readRunSecret({ GAIA_MESH_SECRET: 'hunter2' })).not.toThrow(/hunter2/);
});
