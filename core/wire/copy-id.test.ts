import { describe, expect, test } from 'vitest';
import { MAX_COPIES } from '../contracts/limits.ts';
import { nodeIdSchema } from '../contracts/node-id.ts';
import { copyIds, sharedId } from './copy-id.ts';

const isNodeId = (id: string) => nodeIdSchema.safeParse(id).success;

describe('the ids of copies', () => {
  test('are ids of nodes, and say whose copy each is', () => {
    const ids = copyIds('a.b-c_1', MAX_COPIES);
    expect(ids.slice(0, 3)).toEqual(['a.b-c_1', 'a.b-c_1~2', 'a.b-c_1~3']);
    expect(new Set(ids).size).toBe(MAX_COPIES);
    expect(ids.filter((id) => !isNodeId(id) || sharedId(id) !== 'a.b-c_1')).toEqual([]);
  });

  test.each(['2~', '~2', '2~1', '2~02', '2~100', '2~2~2', '2~x', '2~-2', '2~2.'])('are not as %s', (id) => {
    expect(isNodeId(id)).toBe(false);
  });

  test('are no longer than any id may be', () => {
    expect(isNodeId('x'.repeat(256))).toBe(true);
    expect(isNodeId('x'.repeat(257))).toBe(false);
    expect(isNodeId(`${'x'.repeat(253)}~64`)).toBe(true);
    expect(isNodeId(`${'x'.repeat(254)}~64`)).toBe(false);
  });
});
