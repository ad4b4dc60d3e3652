/** Whether the factor is named that was planted, and no other, on simulated designs with known truth. */
import { isDeepStrictEqual } from 'node:util';
import { Random } from '@gaia-mesh/core/system/random.ts';
import { describe, expect, it } from 'vitest';
import { attributeRatio, type Cell } from './attribution.ts';
import { normal } from './testing/noise.ts';

type FactorLevels = Cell['levels'];

const FACTORS = {
  protocol: ['json', 'a2a'],
  transport: ['tcp', 'http'],
  implementation: ['bare', 'sdk'],
  nagle: ['off', 'on'],
};
const FROM = { protocol: 'json', transport: 'tcp', implementation: 'bare', nagle: 'off' };
const TO = { protocol: 'a2a', transport: 'http', implementation: 'sdk', nagle: 'on' };

function combinations(factors: Readonly<Record<string, readonly string[]>>): FactorLevels[] {
  return Object.entries(factors).reduce<FactorLevels[]>(
    (all, [name, levels]) => all.flatMap((one) => levels.map((level) => ({ ...one, [name]: level }))),
    [{}],
  );
}

/** Times of cells in which each level costs its factor: processes differ by 5 %, rounds by 5 %, and the machine drifts. */
function measured(
  cells: readonly FactorLevels[],
  costOf: (levels: FactorLevels) => number,
  seed: number,
  invocations = 8,
): Cell[] {
  const random = new Random(seed);
  const samples = cells.map((): number[][] => []);
  for (let invocation = 0; invocation < invocations; invocation++) {
    const machine = 0.2 * normal(random);
    for (const [index, levels] of cells.entries()) {
      const process = 0.05 * normal(random);
      const round = () => costOf(levels) * Math.exp(machine + process + 0.05 * normal(random));
      samples[index]?.push([round(), round(), round(), round()]);
    }
  }
  return cells.map((levels, index) => ({ levels, samples: samples[index] ?? [] }));
}

const named = (cells: readonly Cell[], to: FactorLevels = TO) =>
  attributeRatio(cells, { from: FROM, to })
    .shares.filter(({ verdict }) => verdict === 'contributes')
    .map(({ factor }) => factor);

const SEEDS = Array.from({ length: 10 }, (_, index) => index + 51);

describe('a factor that was planted', () => {
  it.each(Object.entries(TO))(
    'is named in at least nine of ten measurements, and no other is: %s',
    (factor, level) => {
      const cost = (levels: FactorLevels) => (levels[factor] === level ? 1.3 : 1);
      const found = SEEDS.map((seed) => named(measured(combinations(FACTORS), cost, seed)));
      expect(found.filter((names) => names.join() === factor).length).toBeGreaterThanOrEqual(9);
      expect(found.flat().filter((name) => name !== factor)).toEqual([]);
    },
  );

  it('beside others is named with them, and shares multiply to the whole', () => {
    const cost = (levels: FactorLevels) =>
      (levels.protocol === 'a2a' ? 1.2 : 1) *
      (levels.transport === 'http' ? 1.5 : 1) *
      (levels.implementation === 'sdk' ? 1.7 : 1);
    const { total, shares, method } = attributeRatio(measured(combinations(FACTORS), cost, 7), {
      from: FROM,
      to: TO,
    });
    expect(shares.map(({ factor, verdict }) => [factor, verdict])).toEqual([
      ['implementation', 'contributes'],
      ['transport', 'contributes'],
      ['protocol', 'contributes'],
      ['nagle', expect.stringMatching(/no share|cannot tell/)],
    ]);
    expect(method).toBe('exact');
    const product = shares.reduce((all, { share }) => all * share.ratio, 1);
    expect(product).toBeCloseTo(total.ratio, 9);
    for (const [factor, truth] of [
      ['implementation', 1.7],
      ['transport', 1.5],
      ['protocol', 1.2],
    ] as const) {
      const share = shares.find((one) => one.factor === factor)?.share;
      expect(share?.low).toBeLessThan(truth);
      expect(share?.high).toBeGreaterThan(truth);
    }
  });
});

it('without a planted factor none is blamed in ten of ten measurements, however many are asked for', () => {
  for (const seed of SEEDS)
    expect(named(measured(combinations(FACTORS), () => 1, seed)), `seed ${seed}`).toEqual([]);
});

it('blames any in at most one of a hundred measurements of equal cells, few invocations included', () => {
  const found = Array.from(
    { length: 300 },
    (_, seed) => named(measured(combinations(FACTORS), () => 1, seed, 5)).length,
  );
  expect(found.filter((count) => count > 0).length).toBeLessThanOrEqual(6);
});

describe('factors that act together', () => {
  // Nagle's algorithm costs nothing but over TLS's small records, as it were: only both together make it slow.
  const cost = (levels: FactorLevels) => (levels.transport === 'http' && levels.nagle === 'on' ? 2 : 1);
  const { shares, total } = attributeRatio(measured(combinations(FACTORS), cost, 3), {
    from: FROM,
    to: TO,
  });

  it('have half of it each', () => {
    const halves = shares.slice(0, 2).map(({ factor, share }) => [factor, share?.ratio]);
    expect(halves.map(([factor]) => factor).toSorted()).toEqual(['nagle', 'transport']);
    for (const [, ratio] of halves) expect(ratio).toBeCloseTo(Math.SQRT2, 0.8);
    expect(total.ratio).toBeCloseTo(2, 0.5);
  });
});

describe('a design of which some combinations cannot be', () => {
  const possible = combinations({
    protocol: ['json', 'a2a', 'mcp'],
    transport: ['tcp', 'http', 'stdio'],
    implementation: ['bare', 'sdk'],
  })
    .filter(
      ({ protocol, transport }) => (protocol === 'mcp') === (transport === 'stdio') || transport === 'http',
    )
    .filter(({ protocol, implementation }) => protocol !== 'json' || implementation === 'bare');
  const from = { protocol: 'json', transport: 'tcp', implementation: 'bare' };
  const to = { protocol: 'a2a', transport: 'http', implementation: 'sdk' };
  const cost = (levels: FactorLevels) =>
    (levels.transport === 'http' ? 1.5 : 1) * (levels.implementation === 'sdk' ? 1.4 : 1);

  it('is told in the order of changes that was measured, and shares multiply to the whole', () => {
    // JSON over HTTP is there, JSON by an SDK and A2A over TCP are not: one order leads from end to end.
    const { method, shares, total } = attributeRatio(measured(possible, cost, 4), { from, to });
    expect(method).toBe('ordered');
    expect(shares.map(({ factor, verdict }) => [factor, verdict])).toEqual([
      ['transport', 'contributes'],
      ['implementation', 'contributes'],
      ['protocol', expect.stringMatching(/no share|cannot tell/)],
    ]);
    expect(shares.reduce((all, { share }) => all * share.ratio, 1)).toBeCloseTo(total.ratio, 9);
  });

  it('gives factors one share that always change together', () => {
    const both = possible.filter(
      ({ protocol, transport }) => (protocol === 'json') === (transport === 'tcp') && protocol !== 'mcp',
    );
    const { shares } = attributeRatio(measured(both, cost, 4), { from, to });
    expect(
      shares.map(({ factor, from: before, to: after, verdict }) => [factor, before, after, verdict]),
    ).toEqual([
      ['protocol + transport', 'json + tcp', 'a2a + http', 'contributes'],
      ['implementation', 'bare', 'sdk', 'contributes'],
    ]);
  });

  it('has no share where nothing between the two was measured', () => {
    const ends = possible.filter((levels) => [from, to].some((end) => isDeepStrictEqual(end, levels)));
    const { shares } = attributeRatio(measured(ends, cost, 4), { from, to });
    expect(shares.map(({ factor }) => factor)).toEqual(['implementation + protocol + transport']);
  });
});

it('refuses cells that are no design', () => {
  const cells = measured(combinations(FACTORS), () => 1, 1);
  const [cell] = cells;
  if (cell === undefined) throw new Error('there are cells');
  expect(() => attributeRatio([], { from: FROM, to: TO })).toThrow('at least one cell');
  expect(() => attributeRatio(cells, { from: FROM, to: FROM })).toThrow('1 to 8 factors that change, got 0');
  expect(() => attributeRatio(cells, { from: FROM, to: { ...TO, nagle: 'maybe' } })).toThrow(
    'nagle maybe: it was not measured',
  );
  expect(() => attributeRatio(cells, { from: FROM, to: { protocol: 'a2a' } })).toThrow(
    'in every cell, got protocol',
  );
  const short = cells.map((one) => (one === cell ? { ...one, samples: one.samples.slice(1) } : one));
  expect(() => attributeRatio(short, { from: FROM, to: TO })).toThrow(
    /expected 7 invocations of every cell.*got 8/,
  );
  const broken = [{ ...cell, samples: cell.samples.map(() => [0, 1, 1]) }, ...cells.slice(1)];
  expect(() => attributeRatio(broken, { from: FROM, to: TO })).toThrow(
    'positive, finite measurements, got 0',
  );
});
