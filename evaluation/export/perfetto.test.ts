import { expect, test } from 'vitest';
import { sampleRecording } from '../compare/testing/sample-recording.ts';
import { buildPerfettoTrace } from './perfetto.ts';

test('begins with whatever was first, also where the hub had a packet before its work began', () => {
  const packets = sampleRecording.packets.map((recorded, index) => {
    const beganUs = 5_000_000 + 1000 * index;
    const work = { receivedAt: beganUs, sentAt: beganUs + 10, engineUs: 0, decodeUs: 0, encodeUs: 0 };
    return { ...recorded, work, relayed: { arrivedUs: beganUs - 400, forwardedUs: beganUs, bytes: 10 } };
  });
  const recording = { ...sampleRecording, packets };
  const text = buildPerfettoTrace({ recording, run: null, exchanges: [] });
  const times = JSON.parse(text).traceEvents.flatMap(({ ts }: { ts?: number }) => ts ?? []);
  expect(Math.min(...times)).toBe(0);
});
