import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { describePeer } from './languages/installation.ts';
import { findStackEntries, listStackNames, loadStack } from './registry.ts';

describe('the registry of stacks', () => {
  const stackEntries = listStackNames().flatMap(findStackEntries);
  // Those in other languages are held by tests of their own, where the languages are installed.
  const npmEntries = stackEntries.filter(({ packages }) => packages !== undefined);

  test.each(npmEntries.map((entry) => [`${entry.name} (${entry.implementation})`, entry] as const))(
    'has under the name %s what bears it',
    async (_name, { name, implementation, load }) => {
      const isForeign = implementation === 'python' || implementation === 'go';
      if (isForeign && !existsSync(describePeer(implementation).mark)) {
        await expect(load()).rejects.toThrow('needs packages that are not installed');
        return;
      }
      const stack = await load();
      expect(stack).toMatchObject({ name, implementation });
      expect(`${stack.protocol}/`).toBe(name.slice(0, name.indexOf('/') + 1));
    },
  );

  test('has one of each name and implementation', () => {
    const keys = stackEntries.map(({ name, implementation }) => `${name} ${implementation}`);
    expect(new Set(keys).size).toBe(keys.length);
  });

  test('has every adapter, with layers or without, over the mesh’s own frames', async () => {
    await expect(loadStack('mesh/cbor+crc32c', 'bare')).resolves.toMatchObject({
      name: 'mesh/cbor+crc32c',
    });
    expect(() => findStackEntries('mesh/yaml')).toThrow('unknown adapter "yaml"');
  });

  test('says what there is when it does not know a name or an implementation', async () => {
    expect(() => findStackEntries('json/pigeon')).toThrow(
      `unknown stack "json/pigeon"; known: ${listStackNames().join(', ')}, mesh/<adapter>`,
    );
    await expect(loadStack('json/unix', 'sdk')).rejects.toThrow(
      'stack json/unix: expected implementation bare, received sdk',
    );
  });
});
