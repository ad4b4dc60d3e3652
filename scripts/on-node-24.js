// In plain JavaScript, so that any Node can read it.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
// The whole module: an older Node refuses to link a name that it does not have.
import module from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const REQUIRED_MAJOR = 24;

const here = path.dirname(fileURLToPath(import.meta.url));

/**
 * Runs a program on Node 24 or newer: in this process if its Node is that new, else the same command again with the Node that
 * the optional dependency `node` brought.
 *
 * @param {() => Promise<unknown>} program
 */
export async function onNode24(program) {
  endWithNpm();
  if (Number.parseInt(process.versions.node, 10) < REQUIRED_MAJOR) {
    runOnNode(packagedNode());
    return;
  }
  // Compiled code is kept between runs: it halves the start. In the project's own folder, not the system's shared one, where
  // any user could put code for us to run. Agents bring their own folder in NODE_COMPILE_CACHE.
  if (!process.env.NODE_COMPILE_CACHE)
    module.enableCompileCache(path.join(nodeModules(), '.cache', 'gaia-mesh'));
  await program();
}

/** The `node_modules` that the package was installed in, or that of the checkout. */
function nodeModules() {
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

/** How often is looked whether npm is still there. */
const LOOK_EVERY_MS = 500;

/** What npm started ends with npm, also where that is killed and tells nobody: as if the terminal had been closed. */
function endWithNpm() {
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  const look = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(look);
    process.kill(process.pid, 'SIGHUP');
  }, LOOK_EVERY_MS);
  look.unref();
}

/** @param {string} node */
function runOnNode(node) {
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
