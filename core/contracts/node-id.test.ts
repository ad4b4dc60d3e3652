import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nodeIdSchema, toFolderName } from './packet.ts';

const IDENTITIES = [
  'did:wba:agents.example.com%3A8800:user:alice',
  'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',
  'did:web:example.com#agent-1',
  'urn:agent:example:triage',
  'https://example.com/.well-known/agent-card.json?v=1&lang=en',
  'acme/support/triage',
  'agent@example.com',
];
const character = fc.constantFrom(...'aZ09_.-:/#?=&%@+');
const ids = fc
  .tuple(fc.constantFrom(...'aZ0'), fc.string({ unit: character, maxLength: 200 }))
  .map(([first, rest]) => first + rest);

describe('ids of nodes', () => {
  test.each(IDENTITIES)('may be %s', (id) => {
    expect(nodeIdSchema.safeParse(id).success).toBe(true);
  });

  test.each([
    '',
    '../up',
    '/root',
    ':a',
    'a b',
    'a,b',
    'a>b',
    'a*',
    '2~2',
    "a'b",
    'a"b',
    'a\\b',
    'a\n',
    'ä',
    'a\u202eb',
  ])('are not %j', (id) => {
    expect(nodeIdSchema.safeParse(id).success).toBe(false);
  });
});

describe('the folder of an agent', () => {
  test('has a short name’s own', () => {
    for (const id of ['0', 'a.b-c_1', 'x'.repeat(64)]) expect(toFolderName(id)).toBe(id);
  });

  test('is one safe name below the workspaces, whatever the id', () => {
    fc.assert(
      fc.property(ids, (id) => {
        const name = toFolderName(id);
        expect(name).toMatch(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,80}$/);
        expect(path.dirname(path.join('/workspaces', name))).toBe('/workspaces');
        expect(name.endsWith('.')).toBe(false);
      }),
    );
  });

  test('is no other agent’s', () => {
    fc.assert(
      fc.property(fc.uniqueArray(ids, { minLength: 2, maxLength: 50 }), (all) => {
        expect(new Set(all.map(toFolderName)).size).toBe(all.length);
      }),
    );
    expect(toFolderName('a:b')).not.toBe(toFolderName('a/b'));
    expect(toFolderName(toFolderName('a:b'))).toBe(toFolderName('a:b'));
  });
});
