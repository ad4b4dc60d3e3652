import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { formatRecording } from '@gaia-mesh/core/recording/recording.ts';
import { temporaryFolder } from '@gaia-mesh/core/testing/temporary-folder.ts';
import { expect, test } from 'vitest';
import { sampleRecording } from '../compare/testing/sample-recording.ts';
import { writePerfetto } from './perfetto.ts';

test('begins with whatever was first, also where the hub had a packet before its work began', async () => {
  const packets = sampleRecording.packets.map((recorded, index) => {
    const beganUs = 5_000_000 + 1000 * index;
    const work = { received_us: beganUs, sent_us: beganUs + 10, engine_us: 0, decode_us: 0, encode_us: 0 };
    return { ...recorded, work, relayed: { arrived_us: beganUs - 400, forwarded_us: beganUs, bytes: 10 } };
  });
  const folder = temporaryFolder();
  const [file, out] = [path.join(folder, 'recording.jsonl'), path.join(folder, 'trace.json')];
  writeFileSync(file, formatRecording({ ...sampleRecording, packets }).join(''));
  await writePerfetto(file, out);
  const times = JSON.parse(readFileSync(out, 'utf8')).traceEvents.flatMap(
    ({ ts }: { ts?: number }) => ts ?? [],
  );
  expect(Math.min(...times)).toBe(0);
});
