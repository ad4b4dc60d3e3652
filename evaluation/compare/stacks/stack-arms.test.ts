import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { loadStack } from '@gaia-mesh/stacks/registry.ts';
import { expect, test } from 'vitest';
import { combineArms } from './arms.ts';
import { StackArms } from './stack-arms.ts';
import { buildEchoes } from './workload.ts';

async function createArms(concurrency: readonly number[], payload?: JsonObject): Promise<StackArms> {
  const { arms } = combineArms([{ stack: await loadStack('json/unix', 'bare') }]);
  const [baseline] = arms;
  const [exchange] = buildEchoes(256, 1);
  if (baseline === undefined || exchange === undefined) throw new Error('expected an arm and an exchange');
  const request = { ...exchange.request, payload: payload ?? exchange.request.payload };
  return new StackArms({
    arms: [baseline],
    exchangesOf: () => [{ ...exchange, request }],
    identity: null,
    concurrency,
    ratePerS: 200,
    design: { budgetMs: 60_000, invocations: 5, rounds: 9 },
  });
}

test.each([
  ['its share of the time that is left', 40_000, 2000],
  ['no longer than makes a difference', 400_000, 3000],
  ['no shorter than a load needs', 1000, 400],
])('measures an invocation for %s', async (_what, leftMs, measuredMs) => {
  const { planBlock } = (await createArms([1])).plan();
  // Five invocations of two pairs, each of which takes 2 s to start and to stop.
  expect(await planBlock(0, leftMs, 2)).toBe(2 * (measuredMs + 2000) - 1);
});

test('leaves out concurrencies whose exchanges would fill the memory', async () => {
  const own = await createArms([1, 4, 16], { text: 'x'.repeat(3 * 1024 * 1024) });
  expect(own.concurrency).toEqual([1, 4]);
  expect(own.warnings).toContainEqual(expect.stringContaining('concurrency 16 was left out'));
});
