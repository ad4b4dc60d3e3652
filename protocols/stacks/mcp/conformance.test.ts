import path from 'node:path';
import { expect, test } from 'vitest';
import { conformanceOf } from '../testing/mcp-conformance.ts';
import { bareMcpServer, sdkMcpServer } from '../testing/mcp-servers.ts';

/**
 * MCP's own conformance suite checks our servers against its revisions; the SDK's takes the latest alone.
 * `conformance-<server>.yaml` lists the known failures, each with its reason; the suite fails when one of
 * these passes, as it does when another one fails.
 */

const servers = { bare: bareMcpServer, sdk: sdkMcpServer };

test.concurrent.each([
  ['bare', '2026-07-28', 'bare'],
  ['bare', '2025-11-25', 'bare-2025'],
  ['sdk', '2026-07-28', 'sdk'],
] as const)(
  'the conformance suite of MCP finds what is listed with the %s server by %s, and nothing else',
  async (name, revision, list) => {
    const server = await servers[name]();
    try {
      const listed = path.join(import.meta.dirname, `conformance-${list}.yaml`);
      expect(await conformanceOf(server.url, revision, listed)).toEqual({ code: 0, output: '' });
    } finally {
      await server.close();
    }
  },
);
