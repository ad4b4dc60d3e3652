#!/usr/bin/env node
// The entry, in plain JavaScript so that any Node can read it. Gaia Mesh needs Node 24: the running one if it is that new,
// else the one that the optional dependency `node` brought.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
// The whole module: an older Node refuses to link a name that it does not have.
import module from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import v8 from 'node:v8';

const REQUIRED_MAJOR = 24;

/** They load adapters that users wrote, which import the project's modules from the sources: all must have the same ones. */
const FROM_SOURCES = ['compare', 'conformance'];

if (Number.parseInt(process.versions.node, 10) >= REQUIRED_MAJOR) {
  const here = path.dirname(fileURLToPath(import.meta.url));
  // What a hub makes for a packet is garbage at once: the room for it would grow to 16 MB, and no collection would be spared.
  if (process.argv[2] === 'hub') v8.setFlagsFromString('--semi-space-growth-factor=1');
  // Compiled code is kept between runs: it halves the start. In the project's own folder, not the system's shared one, where
  // any user could put code for us to run. Agents bring their own folder in NODE_COMPILE_CACHE.
  if (!process.env.NODE_COMPILE_CACHE)
    module.enableCompileCache(path.join(nodeModulesOf(here), '.cache', 'gaia-mesh'));
  // A checkout holds the sources, which Node 24 runs as they are; the published package holds what was built from them.
  const isCheckout = existsSync(path.join(here, 'main.ts'));
  await import((isCheckout && (await bundleOf(here))) || `./main.${isCheckout ? 'ts' : 'js'}`);
} else {
  runWith(packagedNode());
}

/**
 * The bundle that an installation makes of the sources: what runs from it starts in half the time, and a hub needs 30 MB less where
 * no types are stripped. Its URL, or undefined when a source has changed since.
 */
async function bundleOf(here) {
  if (FROM_SOURCES.includes(process.argv[2])) return undefined;
  // What is started by another process of ours takes what that took, whatever has changed since: an agent always is.
  if (process.env.GAIA_MESH_BUNDLE || process.argv[2] === 'agent') return process.env.GAIA_MESH_BUNDLE;
  const root = path.dirname(here);
  const { bundleFolder, STAMP_FILE, sourceStamp } = await import('./source-stamp.js');
  const folder = bundleFolder(root);
  const stampFile = path.join(folder, STAMP_FILE);
  if (!existsSync(stampFile) || readFileSync(stampFile, 'utf8') !== sourceStamp(root)) return undefined;
  process.env.GAIA_MESH_BUNDLE = pathToFileURL(path.join(folder, 'main.js')).href;
  return process.env.GAIA_MESH_BUNDLE;
}

/** The `node_modules` that the package was installed in, or that of the checkout. */
function nodeModulesOf(here) {
  const name = `${path.sep}node_modules`;
  const end = here.lastIndexOf(name + path.sep);
  return end < 0 ? path.join(here, '..', 'node_modules') : here.slice(0, end) + name;
}

function packagedNode() {
  try {
    const require = module.createRequire(import.meta.url);
    const file = path.join(path.dirname(require.resolve('node/package.json')), 'bin', 'node');
    if (existsSync(file)) return file;
  } catch {
    // Not installed: it is optional, and there is none for some platforms.
  }
  console.error(
    `gaia-mesh needs Node ${REQUIRED_MAJOR} or newer; this is ${process.version}, and the package "node" that would bring one is not installed, or npm was told not to run its install script.\n` +
      `Install Node ${REQUIRED_MAJOR} (https://nodejs.org), or run "npm install node@${REQUIRED_MAJOR}" or "npm rebuild node" here.`,
  );
  process.exit(1);
}

function runWith(node) {
  const child = spawn(node, process.argv.slice(1), { stdio: 'inherit' });
  // All are passed on, as nothing tells whether a signal came for the whole group (a terminal's Ctrl-C, which the child then
  // gets twice) or for this process alone. This one waits for the child to tidy up, and ends as it did.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    console.error(`gaia-mesh: cannot start ${node}: ${error.message}`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    process.exitCode = signal === null ? code : 128 + os.constants.signals[signal];
  });
}
