#!/usr/bin/env node
// The entry of the command line.
import v8 from 'node:v8';
import { onNode24 } from './on-node-24.js';

await onNode24(async () => {
  // The hub's objects per packet are garbage at once: without the flag their space would grow to 16 MB and save no
  // collection.
  if (process.argv[2] === 'hub') v8.setFlagsFromString('--semi-space-growth-factor=1');
  // A batch keeps only the documents of running tasks: the flag makes the collector run before the garbage has doubled
  // the heap.
  if (/^(bench|gaia)$/.test(process.argv[2] ?? '')) v8.setFlagsFromString('--heap-growing-percent=30');
  await import('../dist/main.js');
});
