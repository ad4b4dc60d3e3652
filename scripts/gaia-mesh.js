#!/usr/bin/env node
// The entry of the command line.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import v8 from 'node:v8';
import { onNode24 } from './on-node-24.js';

const here = path.dirname(fileURLToPath(import.meta.url));

await onNode24(async () => {
  // What a hub makes for a packet is garbage at once: the room for it would grow to 16 MB, and no collection would be spared.
  if (process.argv[2] === 'hub') v8.setFlagsFromString('--semi-space-growth-factor=1');
  // Of a batch's documents those alone are kept that are under way: what is garbage is collected before there is as much again.
  if (/^(bench|gaia)$/.test(process.argv[2] ?? '')) v8.setFlagsFromString('--heap-growing-percent=30');
  // A checkout holds the sources, which Node 24 runs as they are; the published package holds a bundle of what was built from them.
  const isCheckout = existsSync(path.join(here, 'main.ts'));
  await import(isCheckout ? ((await bundleOf()) ?? './main.ts') : '../bundle/main.js');
});

/**
 * The bundle that an installation makes of the sources: what runs from it starts in half the time, and a hub needs 30 MB less where
 * no types are stripped. Its URL, or undefined when a source has changed since.
 */
async function bundleOf() {
  // What is started by another process of ours takes what that took, whatever has changed since: agents and peers always are.
  if (process.env.GAIA_MESH_BUNDLE || /^(agent|peer)$/.test(process.argv[2] ?? ''))
    return process.env.GAIA_MESH_BUNDLE;
  const root = path.dirname(here);
  const { bundleFolder, isBundled } = await import('./source-stamp.js');
  if (!isBundled(root)) return undefined;
  process.env.GAIA_MESH_BUNDLE = pathToFileURL(path.join(bundleFolder(root), 'main.js')).href;
  return process.env.GAIA_MESH_BUNDLE;
}
