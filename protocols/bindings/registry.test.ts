import { describe, expect, test } from 'vitest';
import { bindingEntries, bindingNamed, bindingNames, entriesNamed } from './registry.ts';

describe('the registry of bindings', () => {
  test.each(bindingEntries.map((entry) => [`${entry.name} (${entry.implementation})`, entry] as const))(
    'has under the name %s what bears it',
    async (_name, { name, implementation, load }) => {
      const binding = await load();
      expect(binding).toMatchObject({ name, implementation });
      expect(`${binding.protocol}/`).toBe(name.slice(0, name.indexOf('/') + 1));
    },
  );

  test('has one of each name and implementation', () => {
    const keys = bindingEntries.map(({ name, implementation }) => `${name} ${implementation}`);
    expect(new Set(keys).size).toBe(keys.length);
  });

  test('has every adapter, with layers or without, over the mesh’s own frames', async () => {
    await expect(bindingNamed('mesh/cbor+crc32c', 'bare')).resolves.toMatchObject({
      name: 'mesh/cbor+crc32c',
    });
    expect(() => entriesNamed('mesh/yaml')).toThrow('unknown adapter "yaml"');
  });

  test('says what there is when it does not know a name or an implementation', async () => {
    expect(() => entriesNamed('json/pigeon')).toThrow(
      `unknown binding "json/pigeon"; known: ${bindingNames().join(', ')}, mesh/<adapter>`,
    );
    await expect(bindingNamed('json/unix', 'sdk')).rejects.toThrow(
      'binding json/unix: expected implementation bare, came sdk',
    );
  });
});
