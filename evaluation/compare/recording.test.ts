import type { JsonValue } from '@gaia-mesh/core/contracts/packet.ts';
import { isRecord } from '@gaia-mesh/protocols/testing/record-table.ts';
import { describe, expect, test } from 'vitest';
import { loadRecording } from './recording.ts';

const recording = await loadRecording(undefined);

/** Lists all objects in `value`, itself included. */
function listObjects(value: JsonValue): object[] {
  if (typeof value !== 'object' || value === null) return [];
  const inside = Object.values(value).flatMap(listObjects);
  return Array.isArray(value) ? inside : [value, ...inside];
}

describe('the recording that ships', () => {
  test('has at least 200 packets, of four kinds, from below 256 bytes to above 10 kB', () => {
    const sizes = recording.packets.map(({ packet }) => Buffer.byteLength(JSON.stringify(packet.payload)));

    expect(recording.packets.length).toBeGreaterThanOrEqual(200);
    expect(recording.header.parts?.map(({ name }) => name)).toEqual([
      'chatty',
      'mixed',
      'documents',
      'tables',
    ]);
    expect(sizes.filter((size) => size < 256).length).toBeGreaterThan(60);
    expect(sizes.filter((size) => size >= 10_000).length).toBeGreaterThan(12);
  });

  test('has no structure that the table of msgpack-records was made for', () => {
    const objects = recording.packets.flatMap(({ packet }) => listObjects(packet.payload));

    expect(objects.filter((object) => isRecord(object))).toEqual([]);
  });
});
