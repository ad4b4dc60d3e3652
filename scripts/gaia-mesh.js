#!/usr/bin/env node
// The entry of the command line.
import { onNode24 } from './on-node-24.js';

/**
 * Flags of V8 for commands that may work for hours, each with its standard value. A hub's objects per packet are garbage at
 * once: without the flag, their space would grow to 16 MB and save no collection. A batch keeps only the documents of running
 * tasks, and an agent less: the flag makes the collector run before the garbage has doubled the heap.
 */
const FLAGS = {
  hub: ['--semi-space-growth-factor=1', '--semi-space-growth-factor=2'],
  bench: ['--heap-growing-percent=30', '--heap-growing-percent=0'],
  gaia: ['--heap-growing-percent=30', '--heap-growing-percent=0'],
  agent: ['--heap-growing-percent=50', '--heap-growing-percent=0'],
};
/** Time after which a process counts as one that works for long, and gets its flag. */
const SHORT_MS = 2000;

await onNode24(async () => {
  // Compiled code, including Node's own, is valid only for the flags that it was compiled with. A process with other flags at
  // its start would compile everything again, which doubles its start. It takes the flag back at its end, when it saves its
  // compiled code for the next start.
  const [flag, standard] = FLAGS[process.argv[2] ?? ''] ?? [];
  const setFlag = () => {
    const v8 = process.getBuiltinModule('node:v8');
    v8.setFlagsFromString(flag);
    process.on('exit', () => v8.setFlagsFromString(standard));
  };
  if (flag !== undefined) setTimeout(setFlag, SHORT_MS).unref();
  await import('../dist/main.js');
});
