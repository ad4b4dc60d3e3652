import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';

const suite = createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/dist/index.js');

/** Result of MCP's conformance suite; `output` is empty if it is as expected. */
export interface Conformance {
  readonly code: number;
  readonly output: string;
}

/**
 * Runs MCP's own conformance suite against a server. `expected` lists the scenarios that are known to fail,
 * each with its reason.
 */
export async function conformanceOf(url: string, revision: string, expected: string): Promise<Conformance> {
  const out = await mkdtemp(path.join(os.tmpdir(), 'gaia-mesh-conformance-'));
  try {
    const child = spawn(process.execPath, [
      ...[suite, 'server', '--url', url, '--requirements', revision],
      ...['--expected-failures', expected, '-o', out],
    ]);
    const output = Promise.all([text(child.stdout), text(child.stderr)]);
    const [code] = await once(child, 'close');
    const report = (await output).join('\n');
    return { code: Number(code), output: code === 0 ? '' : report.slice(-4000) };
  } finally {
    await rm(out, { recursive: true, force: true });
  }
}
