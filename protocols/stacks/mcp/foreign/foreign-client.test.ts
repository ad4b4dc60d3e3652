import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';

/** MCP's own conformance suite plays the server, and checks our client of foreign servers. */

const suite = createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/dist/index.js');
const client = path.join(import.meta.dirname, '..', '..', 'testing', 'foreign-client-process.ts');

test.concurrent.each(['initialize', 'tools_call', 'sse-retry'])(
  'the conformance suite of MCP finds nothing wrong with the client: %s',
  async (scenario) => {
    const out = await mkdtemp(path.join(os.tmpdir(), 'gaia-mesh-conformance-'));
    try {
      const command = `"${process.execPath}" "${client}"`;
      const args = ['client', '--command', command, '--scenario', scenario, '-o', out];
      const child = spawn(process.execPath, [suite, ...args]);
      const output = Promise.all([text(child.stdout), text(child.stderr)]);
      const [code] = await once(child, 'close');
      const said = (await output).join('\n').slice(-3000);
      expect({ code, said: code === 0 ? '' : said }).toEqual({ code: 0, said: '' });
      expect(said).toContain('OVERALL: PASSED');
    } finally {
      await rm(out, { recursive: true, force: true });
    }
  },
);
