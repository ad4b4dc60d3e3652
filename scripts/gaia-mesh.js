#!/usr/bin/env node
// The entry, in plain JavaScript so that any Node can read it. Gaia Mesh needs Node 24: the running one if it is that new,
// else the one that the optional dependency `node` brought.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const REQUIRED_MAJOR = 24;

if (Number.parseInt(process.versions.node, 10) >= REQUIRED_MAJOR) {
  const here = path.dirname(fileURLToPath(import.meta.url));
  // A checkout holds the sources, which Node 24 runs as they are; the published package holds what was built from them.
  const main = ['main.ts', 'main.js'].find((name) => existsSync(path.join(here, name)));
  await import(`./${main}`);
} else {
  runWith(packagedNode());
}

function packagedNode() {
  try {
    const require = createRequire(import.meta.url);
    const file = path.join(path.dirname(require.resolve('node/package.json')), 'bin', 'node');
    if (existsSync(file)) return file;
  } catch {
    // Not installed: it is optional, and there is none for some platforms.
  }
  console.error(
    `gaia-mesh needs Node ${REQUIRED_MAJOR} or newer; this is ${process.version}, and the package "node" that would bring one is not installed.\n` +
      `Install Node ${REQUIRED_MAJOR} (https://nodejs.org), or run "npm install node@${REQUIRED_MAJOR}" here.`,
  );
  process.exit(1);
}

function runWith(node) {
  const child = spawn(node, process.argv.slice(1), { stdio: 'inherit' });
  // The terminal sends Ctrl-C to both; this one waits for the other to tidy up.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
    });
  }
  child.on('exit', (code, signal) => {
    process.exitCode = signal === null ? (code ?? 1) : 1;
  });
}
