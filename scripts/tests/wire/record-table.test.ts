import type { JsonValue } from '@gaia-mesh/core/contracts/packet.ts';
import { isRecord } from '@gaia-mesh/protocols/testing/record-table.ts';
import { EXAMPLES } from '@gaia-mesh/tools/pipeline/examples.ts';
import { describe, expect, it } from 'vitest';

/** All objects in `value`, itself included. */
function objectsIn(value: JsonValue): object[] {
  if (typeof value !== 'object' || value === null) return [];
  const inside = Object.values(value).flatMap(objectsIn);
  return Array.isArray(value) ? inside : [value, ...inside];
}

describe('the record table of msgpack-records', () => {
  it.each<[string, JsonValue]>([
    ['doc_init', EXAMPLES.search],
    ['search_docs', EXAMPLES.extract],
    ['events', EXAMPLES.triple],
    ['triples', EXAMPLES.reason],
    ['the answer', { answer: 'Ann Berrow' }],
  ])('has what the default team says in %s', (_, payload) => {
    for (const object of objectsIn(payload)) expect(isRecord(object), JSON.stringify(object)).toBe(true);
  });
});
