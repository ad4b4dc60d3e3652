import path from 'node:path';
import { isKitThere, kitResults } from '@gaia-mesh/stacks/testing/a2a-kit.ts';
import { conformanceOf } from '@gaia-mesh/stacks/testing/mcp-conformance.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endServe, type Served, startServe } from '../../testing/served.ts';
import expected from './a2a-kit-failures.json' with { type: 'json' };

/** The official suites judge a team that `serve` keeps up, as anybody's server. What they find wrong is listed, each with its reason. */

/** Of its 100 tests for JSON-RPC many need a task that waits for its client, or another fixture; they are skipped, as a team has none. */
const MIN_PASSED = 60;

let served: Served;
beforeAll(async () => {
  // The kit knows no token, and names a webhook of which it expects no call.
  served = await startServe(['--task', 'cairn-astel-light', '--no-token', '--push-to', 'example.com']);
});
afterAll(() => endServe(served));

const isThere = await isKitThere();

describe('a served team', () => {
  test.each(['2026-07-28', '2025-11-25'])(
    'has what is listed, and nothing else, found wrong by the conformance suite of MCP %s',
    async (revision) => {
      const listed = path.join(import.meta.dirname, `conformance-${revision}.yaml`);
      expect(await conformanceOf(served.mcp ?? '', revision, listed)).toEqual({ code: 0, output: '' });
    },
  );

  test.skipIf(!isThere)(
    'has what is listed, and nothing else, found wrong by the test kit of A2A',
    async () => {
      const results = await kitResults(served.url, ['jsonrpc']);
      const of = (outcome: string) =>
        [...results].flatMap(([name, result]) => (result === outcome ? name : []));
      expect(of('failed').sort()).toEqual(Object.keys(expected).sort());
      expect(of('passed').length).toBeGreaterThanOrEqual(MIN_PASSED);
    },
    300_000,
  );
});
