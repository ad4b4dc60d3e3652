import { describe, expect, test } from 'vitest';
import { isKitThere, type KitResults, kitResults } from '../testing/a2a-kit.ts';
import { bareTckServer, sdkTckServer, type TckServer } from '../testing/tck-servers.ts';
import expected from './a2a-kit-failures.json' with { type: 'json' };

/**
 * The A2A project's own test kit checks our servers; `a2a-kit-failures.json` lists the tests that fail, each
 * with its reason.
 */

const servers: Readonly<Record<keyof typeof expected, () => Promise<TckServer>>> = {
  bare: bareTckServer,
  sdk: sdkTckServer,
};

/** The kit has some 260 tests, about 20 of which find nothing to test in each run. */
const MIN_PASSED = 235;

const isThere = await isKitThere();

async function resultsOf(start: () => Promise<TckServer>): Promise<KitResults> {
  const server = await start();
  try {
    return await kitResults(server.url);
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
      expect(of('passed').length).toBeGreaterThanOrEqual(MIN_PASSED);
    },
    300_000,
  );
});
