import { describe, expect, test } from 'vitest';
import { isKitThere, type KitResults, kitResults } from '../testing/a2a-kit.ts';
import { bareTckServer, sdkTckServer } from '../testing/tck-servers.ts';
import expected from './a2a-kit-failures.json' with { type: 'json' };

/**
 * The A2A project's own test kit checks our servers; `a2a-kit-failures.json` lists the tests that fail, each
 * with its reason.
 */

/** How each server is started, its transports, and tests that pass at least: the kit has some 260 for all transports. */
const servers = {
  bare: { start: bareTckServer, transports: ['jsonrpc'], minPassed: 95 },
  sdk: { start: sdkTckServer, transports: ['jsonrpc', 'http_json', 'grpc'], minPassed: 235 },
} as const;

const isThere = await isKitThere();

async function resultsOf({ start, transports }: (typeof servers)['bare' | 'sdk']): Promise<KitResults> {
  const server = await start();
  try {
    return await kitResults(server.url, transports);
  } finally {
    await server.close();
  }
}

describe.skipIf(!isThere)('the test kit of A2A', () => {
  test.concurrent.each(['bare', 'sdk'] as const)(
    'finds what is listed with the %s server, and nothing else',
    async (name) => {
      const results = await resultsOf(servers[name]);
      const of = (outcome: string) =>
        [...results].flatMap(([test, result]) => (result === outcome ? test : []));
      expect(of('failed').sort()).toEqual(Object.keys(expected[name]).sort());
      expect(of('passed').length).toBeGreaterThanOrEqual(servers[name].minPassed);
    },
    300_000,
  );
});
