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
    const work = { receivedAt: beganUs, sentAt: beganUs + 10, engineUs: 0, decodeUs: 0, encodeUs: 0 };
    return { ...recorded, work, relayed: { arrivedUs: beganUs - 400, forwardedUs: beganUs, bytes: 10 } };
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
