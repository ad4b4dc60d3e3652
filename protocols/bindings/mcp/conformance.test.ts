import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { bareMcpServer, sdkMcpServer } from '../testing/mcp-servers.ts';

/**
 * MCP's own conformance suite judges our servers by what revision 2026-07-28 requires. What they are known to fail is in
 * `conformance-<server>.yaml`, each with its reason; the suite fails when one of these passes, as it does when another one fails.
 */

const suite = createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/dist/index.js');
const servers = { bare: bareMcpServer, sdk: sdkMcpServer };

test.concurrent.each(['bare', 'sdk'] as const)(
  'the conformance suite of MCP finds what is listed with the %s server, and nothing else',
  async (name) => {
    const server = await servers[name]();
    const out = await mkdtemp(path.join(os.tmpdir(), 'gaia-mesh-conformance-'));
    try {
      const listed = path.join(import.meta.dirname, `conformance-${name}.yaml`);
      const child = spawn(process.execPath, [
        ...[suite, 'server', '--url', server.url, '--requirements', '2026-07-28'],
        ...['--expected-failures', listed, '-o', out],
      ]);
      const output = Promise.all([text(child.stdout), text(child.stderr)]);
      const [code] = await once(child, 'close');
      expect({ code, output: code === 0 ? '' : (await output).join('\n').slice(-4000) }).toEqual({
        code: 0,
        output: '',
      });
    } finally {
      await server.close();
      await rm(out, { recursive: true, force: true });
    }
  },
);
