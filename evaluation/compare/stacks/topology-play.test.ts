import path from 'node:path';
import { expect, test } from 'vitest';
import { sampleRecording } from '../testing/sample-recording.ts';
import { FITS, TOPOLOGIES } from './exchanges.ts';
import { DEFAULT_SETTINGS, toStackSettings } from './factors.ts';
import { playTopology } from './topology-play.ts';

/** Real processes, one a node. */

const file = path.join(import.meta.dirname, 'testing', 'framed-tcp.ts');
const play = {
  stack: { name: 'framed/tcp', implementation: 'bare' as const, file },
  settings: toStackSettings(DEFAULT_SETTINGS, null),
  workMs: 0,
};

test.each([
  // The hub asks both agents and is asked by both.
  { topology: TOPOLOGIES[0], fit: FITS[0], sessions: 4 },
  { topology: TOPOLOGIES[1], fit: FITS[1], sessions: 3 },
])('a recording is carried whole through topology $topology as $fit', async ({ topology, fit, sessions }) => {
  const played = await playTopology(
    sampleRecording,
    { topology, fit, ...play },
    new AbortController().signal,
  );
  const { exchanges } = played.plan;
  expect(played.sessions).toBe(sessions);
  expect(played.wire.sent.messages).toBe(exchanges.length);
  const requests = exchanges.reduce(
    (sum, { request }) => sum + Buffer.byteLength(JSON.stringify(request)),
    0,
  );
  expect(played.wire.sent.body).toBe(requests);
  expect(played.exchangesMs).toBeGreaterThan(0);
});
