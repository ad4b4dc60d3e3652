import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { JsonValue } from '@gaia-mesh/core/contracts/packet.ts';
import { readRecording } from '@gaia-mesh/core/recording/read-archive.ts';
import { formatRecording } from '@gaia-mesh/core/recording/recording.ts';
import { defaultRecording } from '@gaia-mesh/evaluation/compare/recording.ts';
import { isRecord } from '@gaia-mesh/protocols/msgpack-records.ts';
import { describe, expect, test } from 'vitest';
import { buildTrafficSet } from './traffic-set.ts';

const recording = buildTrafficSet();

/** All objects in `value`, itself included. */
function objectsIn(value: JsonValue): object[] {
  if (typeof value !== 'object' || value === null) return [];
  const inside = Object.values(value).flatMap(objectsIn);
  return Array.isArray(value) ? inside : [value, ...inside];
}

describe('the recording that ships', () => {
  test('is what npm run lab:traffic writes', async () => {
    const shipped = gunzipSync(readFileSync(defaultRecording)).toString('utf8');

    expect(shipped === formatRecording(recording).join('')).toBe(true);
    expect((await readRecording(defaultRecording)).packets).toHaveLength(recording.packets.length);
  });

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
    const known = recording.packets
      .flatMap(({ packet }) => objectsIn(packet.payload))
      .filter((object) => isRecord(object));

    expect(known).toEqual([]);
  });
});
