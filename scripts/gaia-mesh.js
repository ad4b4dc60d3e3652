#!/usr/bin/env node
// The entry of the command line.
import v8 from 'node:v8';
import { onNode24 } from './on-node-24.js';

await onNode24(async () => {
  // What a hub makes for a packet is garbage at once: the room for it would grow to 16 MB, and no collection would be spared.
  if (process.argv[2] === 'hub') v8.setFlagsFromString('--semi-space-growth-factor=1');
  // Of a batch's documents those alone are kept that are under way: what is garbage is collected before there is as much again.
  if (/^(bench|gaia)$/.test(process.argv[2] ?? '')) v8.setFlagsFromString('--heap-growing-percent=30');
  await import('../dist/main.js');
});
