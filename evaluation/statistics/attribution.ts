import { contrastWeights, interactionWeights, shapleyWeights } from './inference/shares.ts';
import { trimmedMean } from './inference/trimmed-mean.ts';
import { DEFAULT_MARGIN, type JudgedLevels, judgeLevels } from './level-verdicts.ts';
import { comparisonOf, type InvocationEffect, type LevelComparison } from './levels.ts';

/** Level of each factor, such as `{ transport: 'http', implementation: 'sdk' }`. */
export type FactorLevels = Readonly<Record<string, string>>;

/** One combination of levels: `samples[i][j]` is the j-th round of the i-th invocation, positive, of one unit for all cells. */
export interface Cell {
  readonly levels: FactorLevels;
  readonly samples: readonly (readonly number[])[];
}

/**
 * What one factor has to do with a difference.
 *
 * `contributes`: its share is shown, and larger than the margin. `no share`: shown to be within the margin. `cannot tell`: neither.
 * `confounded`: in no two cells does it change without another one, so that nobody can know, however long is measured.
 */
export type ShareVerdict = 'contributes' | 'no share' | 'cannot tell' | 'confounded';

export interface FactorShare {
  readonly factor: string;
  readonly from: string;
  readonly to: string;
  /** How many times as much the change of this factor makes it, with its interval; null where it is confounded. */
  readonly share: JudgedLevels | null;
  readonly verdict: ShareVerdict;
}

export interface Attribution {
  /** The whole: `to` against `from`. */
  readonly total: JudgedLevels;
  /** The largest share first. */
  readonly shares: readonly FactorShare[];
  /** Pairs of factors that do together what they do not do alone, where that is shown; only where all combinations were measured. */
  readonly interactions: readonly {
    readonly factors: readonly [string, string];
    readonly ratio: JudgedLevels;
  }[];
  /** `exact`: shares multiply to the total, by construction. `fitted`: some combinations were not measured, and what is missing is `rest`. */
  readonly method: 'exact' | 'fitted';
  /** What the shares leave of the total; null where they multiply to it, and where a factor is confounded. */
  readonly rest: JudgedLevels | null;
}

interface AttributionOptions {
  readonly from: FactorLevels;
  readonly to: FactorLevels;
  /** A share within 1 / (1 + margin) to 1 + margin is none; 0.05 by default. */
  readonly margin?: number;
  /** Probability of blaming any factor where none has a share; 0.01 by default: who is blamed unjustly is named. */
  readonly alpha?: number;
}

/** More combinations than anybody measures; it also bounds the sets below. */
const MAX_FACTORS = 8;

/**
 * How much of the ratio between two cells of a paired factorial design each factor is: a decomposition into factors that multiply. All cells
 * are measured side by side, so that the i-th invocations of all of them met the same machine; each invocation gives one value of every share,
 * and Student's t of these gives intervals and verdicts, by the level that varies most (`levels.ts`), corrected for the number of factors.
 *
 * Where every combination of the two levels of each factor was measured, shares are Shapley's (`inference/shares.ts`): they depend on no order,
 * and multiply to the whole also where factors interact. Else they are main effects of a log-linear model of all cells by least squares.
 *
 * @throws RangeError for cells that are no design: other factors, other numbers of invocations, a level that was not measured
 */
export function attribute(cells: readonly Cell[], options: AttributionOptions): Attribution {
  const { from, to, margin = DEFAULT_MARGIN, alpha = 0.01 } = options;
  const design = designOf(cells, options);
  const { factors } = design;
  const first = cellAt(cells, from);
  const last = cellAt(cells, to);
  const corners = cornersOf(cells, options, factors);
  const weights = factors.map((factor, index) =>
    corners === undefined
      ? fittedWeights(cells, factor, options)
      : onCells(cells, corners, shapleyWeights(factors.length, index)),
  );
  const measured = (own: readonly number[]) => comparisonOf(design.effects(own), design.rounds);
  const judged = (all: readonly LevelComparison[]) => judgeLevels(all, { margin, alpha });
  const told = weights.flatMap((own) => (own === null ? [] : [own]));
  const verdicts = judged(told.map(measured));
  const shares = factors.map((factor, index): FactorShare => {
    const own = weights[index] ?? null;
    const share = own === null ? null : (verdicts[told.indexOf(own)] ?? null);
    return { factor, from: from[factor] ?? '', to: to[factor] ?? '', share, verdict: verdictOf(share) };
  });
  const whole = cells.map((cell) => (cell === last ? 1 : 0) - (cell === first ? 1 : 0));
  const [total] = judged([measured(whole)]);
  if (total === undefined) throw new Error('one whole has one verdict');
  const left = whole.map((weight, index) => weight - told.reduce((sum, own) => sum + (own[index] ?? 0), 0));
  const isRestKnown = corners === undefined && told.length === factors.length;
  return {
    total,
    shares: shares.toSorted((a, b) => sizeOf(b.share) - sizeOf(a.share)),
    interactions:
      corners === undefined
        ? []
        : interactionsOf(factors, (own) => measured(onCells(cells, corners, own)), judged),
    method: corners === undefined ? 'fitted' : 'exact',
    rest: isRestKnown ? (judged([measured(left)])[0] ?? null) : null,
  };
}

function verdictOf(share: JudgedLevels | null): ShareVerdict {
  if (share === null) return 'confounded';
  if (share.verdict === 'equivalent') return 'no share';
  const isLarge = Math.abs(Math.log(share.ratio)) > Math.log1p(share.margin);
  return share.verdict === 'different' && isLarge ? 'contributes' : 'cannot tell';
}

function sizeOf(share: JudgedLevels | null): number {
  return share === null ? -1 : Math.abs(Math.log(share.ratio));
}

/** Factors that change, and what a sum of cells comes to in each invocation. */
function designOf(cells: readonly Cell[], { from, to }: AttributionOptions) {
  const [cell] = cells;
  if (cell === undefined) throw new RangeError('expected at least one cell, got none');
  const names = Object.keys(cell.levels).toSorted();
  for (const levels of [from, to, ...cells.map((one) => one.levels)]) {
    const own = Object.keys(levels).toSorted();
    if (own.join() !== names.join())
      throw new RangeError(`expected the factors ${names.join(', ')} in every cell, got ${own.join(', ')}`);
  }
  const factors = names.filter((name) => from[name] !== to[name]);
  if (factors.length === 0 || factors.length > MAX_FACTORS)
    throw new RangeError(`expected 1 to ${MAX_FACTORS} factors that change, got ${factors.length}`);
  const invocations = cell.samples.length;
  const means = cells.map(({ levels, samples }) => {
    if (samples.length === invocations && invocations > 0) return samples.map(logMean);
    const got = `${samples.length} of ${nameOf(levels)}`;
    throw new RangeError(`expected ${invocations} invocations of every cell, at least one; got ${got}`);
  });
  const rounds = Math.min(...cells.flatMap(({ samples }) => samples.map(({ length }) => length)));
  const effects = (weights: readonly number[]): InvocationEffect[] =>
    Array.from({ length: invocations }, (_, invocation) => {
      let [mean, variance] = [0, 0];
      for (const [index, weight] of weights.entries()) {
        const own = means[index]?.[invocation] ?? { mean: 0, variance: 0 };
        mean += weight * own.mean;
        variance += weight ** 2 * own.variance;
      }
      return { mean, variance };
    });
  return { factors, rounds, effects };
}

function logMean(rounds: readonly number[]): InvocationEffect {
  const bad = rounds.find((value) => !(value > 0 && value < Infinity));
  if (bad !== undefined) throw new RangeError(`expected positive, finite measurements, got ${bad}`);
  return trimmedMean(rounds.map(Math.log));
}

/** The cell of each set of factors that have changed; undefined where one was not measured. */
function cornersOf(
  cells: readonly Cell[],
  { from, to }: AttributionOptions,
  factors: readonly string[],
): Cell[] | undefined {
  const corners = Array.from({ length: 2 ** factors.length }, (_, set) => {
    const changed = factors.filter((_factor, index) => (set >> index) % 2 === 1);
    return findCell(cells, { ...from, ...Object.fromEntries(changed.map((name) => [name, to[name] ?? ''])) });
  });
  const known = corners.filter((cell) => cell !== undefined);
  return known.length === corners.length ? known : undefined;
}

/** Weights of corners as weights of all cells. */
function onCells(cells: readonly Cell[], corners: readonly Cell[], weights: readonly number[]): number[] {
  return cells.map((cell) => weights[corners.indexOf(cell)] ?? 0);
}

/** By a log-linear model without interactions: a constant, and a coefficient for each level but the first of each factor. */
function fittedWeights(
  cells: readonly Cell[],
  factor: string,
  { from, to }: AttributionOptions,
): number[] | null {
  const names = Object.keys(from).toSorted();
  const columns = names.flatMap((name) =>
    [...new Set(cells.map(({ levels }) => levels[name] ?? ''))].slice(1).map((level) => ({ name, level })),
  );
  const row = (levels: FactorLevels) => columns.map(({ name, level }) => (levels[name] === level ? 1 : 0));
  const changed = row({ ...from, [factor]: to[factor] ?? '' });
  const before = row(from);
  const contrast = [0, ...changed.map((value, index) => value - (before[index] ?? 0))];
  return contrastWeights(
    cells.map(({ levels }) => [1, ...row(levels)]),
    contrast,
  );
}

function interactionsOf(
  factors: readonly string[],
  measured: (weights: readonly number[]) => LevelComparison,
  judged: (all: readonly LevelComparison[]) => JudgedLevels[],
): Attribution['interactions'] {
  const pairs = factors.flatMap((a, first) =>
    factors
      .slice(first + 1)
      .map((b, further) => ({ factors: [a, b] as const, first, second: first + 1 + further })),
  );
  const ratios = judged(
    pairs.map(({ first, second }) => measured(interactionWeights(factors.length, first, second))),
  );
  return pairs.flatMap((pair, index) => {
    const ratio = ratios[index];
    return ratio !== undefined && verdictOf(ratio) === 'contributes'
      ? [{ factors: pair.factors, ratio }]
      : [];
  });
}

function cellAt(cells: readonly Cell[], levels: FactorLevels): Cell {
  const cell = findCell(cells, levels);
  if (cell === undefined) throw new RangeError(`expected a cell of ${nameOf(levels)}: it was not measured`);
  return cell;
}

function findCell(cells: readonly Cell[], levels: FactorLevels): Cell | undefined {
  return cells.find((cell) => Object.entries(levels).every(([name, level]) => cell.levels[name] === level));
}

function nameOf(levels: FactorLevels): string {
  return Object.entries(levels)
    .map(([name, level]) => `${name} ${level}`)
    .join(', ');
}
