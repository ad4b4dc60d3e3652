// This file is plain JavaScript, so that any Node can read it.
// The whole module is imported: an older Node refuses to link a name that it does not have.
import module from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const REQUIRED_MAJOR = 24;

const here = path.dirname(fileURLToPath(import.meta.url));

/**
 * Runs a program on Node 24 or newer: in this process if its Node is new enough, else by starting the same command with
 * the Node of the optional dependency `node`.
 *
 * @param {() => Promise<unknown>} program
 */
export async function onNode24(program) {
  endWithNpm();
  if (Number.parseInt(process.versions.node, 10) < REQUIRED_MAJOR) {
    await runOnNode(packagedNode());
    return;
  }
  // Compiled code is kept between runs, which halves the start. It is kept in the project's own folder: in the system's
  // shared one, any user could plant code. Agents bring their own folder in NODE_COMPILE_CACHE.
  if (!process.env.NODE_COMPILE_CACHE)
    module.enableCompileCache(path.join(nodeModules(), '.cache', 'gaia-mesh'));
  await program();
}

/** Returns the `node_modules` in which the package was installed, or that of the checkout. */
function nodeModules() {
  const name = `${path.sep}node_modules`;
  const end = here.lastIndexOf(name + path.sep);
  return end < 0 ? path.join(here, '..', 'node_modules') : here.slice(0, end) + name;
}

function packagedNode() {
  try {
    const require = module.createRequire(import.meta.url);
    const { existsSync } = require('node:fs');
    const file = path.join(path.dirname(require.resolve('node/package.json')), 'bin', 'node');
    if (existsSync(file)) return file;
  } catch {
    // The package is optional, and some platforms have none.
  }
  console.error(
    `gaia-mesh needs Node ${REQUIRED_MAJOR} or newer; this is ${process.version}, and the package "node", which provides it, is not installed, or npm did not run its install script.\n` +
      `Install Node ${REQUIRED_MAJOR} (https://nodejs.org), or run "npm install node@${REQUIRED_MAJOR}" or "npm rebuild node" here.`,
  );
  process.exit(1);
}

/** Milliseconds between checks that npm is still running. */
const LOOK_EVERY_MS = 500;

/**
 * Ends this process when npm, which started it, ends: a killed npm passes nothing on. The process gets the signal of a
 * closed terminal.
 */
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

/**
 * Runs the same command on another Node.
 *
 * @param {string} node
 */
async function runOnNode(node) {
  const { spawn } = await import('node:child_process');
  const { constants } = await import('node:os');
  // The command counts the signals that this process passes on.
  const env = { ...process.env, GAIA_MESH_OLDER_NODE: process.version };
  const child = spawn(node, process.argv.slice(1), { stdio: 'inherit', env });
  // All signals are passed on, as nothing tells whether one was sent to the whole group (a terminal's Ctrl-C, which the
  // child then gets twice) or to this process alone. This process waits for the child to tidy up, and ends as it did.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    console.error(`gaia-mesh: cannot start ${node}: ${error.message}`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    process.exitCode = signal === null ? code : 128 + constants.signals[signal];
  });
}
