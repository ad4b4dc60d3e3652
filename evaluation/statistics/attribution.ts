import { computeOrderWeights, findFinestBlocks, pickBlockValues } from './inference/shares.ts';
import { computeTrimmedMean } from './inference/trimmed-mean.ts';
import { DEFAULT_MARGIN, type JudgedComparison, judgeComparisons } from './level-verdicts.ts';
import { combineEffects, type InvocationEffect, type SampleComparison } from './levels.ts';

/** Level of each factor, such as `{ transport: 'http', implementation: 'sdk' }`. */
type FactorSettings = Readonly<Record<string, string>>;

/**
 * One combination of levels: `samples[i][j]` is the j-th round of the i-th invocation. Values are positive and have the same unit in all
 * cells.
 */
export interface Cell {
  readonly levels: FactorSettings;
  readonly samples: readonly (readonly number[])[];
}

/**
 * The part of one factor in a difference.
 *
 * `contributes`: its share is shown to exist, and is larger than the margin. `no share`: its share is shown to be within the margin.
 * `cannot tell`: neither.
 */
type ShareVerdict = 'contributes' | 'no share' | 'cannot tell';

interface FactorShare {
  /** One factor, or several such as `protocol + transport` if they only changed together, so that no measurement can separate them. */
  readonly factor: string;
  readonly from: string;
  readonly to: string;
  /** Ratio that the change of this factor causes, with its interval. */
  readonly share: JudgedComparison;
  readonly verdict: ShareVerdict;
}

interface Attribution {
  /** The whole: `to` against `from`. */
  readonly total: JudgedComparison;
  /** The largest share first; they multiply to the total, by construction. */
  readonly shares: readonly FactorShare[];
  /**
   * `exact`: every combination was measured, so the result does not depend on an order of changes. `ordered`: some combinations were
   * measured, and each share is what its factor adds to those before it, in the orders that were measured.
   */
  readonly method: 'exact' | 'ordered';
}

/** The two cells whose difference is attributed. */
interface Ends {
  readonly from: FactorSettings;
  readonly to: FactorSettings;
}

/** Maximum factors: more would need more combinations than a session can measure. It also bounds the sets below. */
const MAX_FACTORS = 8;

/**
 * Decomposes the ratio between two cells of a paired factorial design into one factor for each changed setting. All cells are measured side
 * by side, so the i-th invocations of all of them met the same machine; each invocation gives one value of every share, and Student's t of
 * these values gives intervals and verdicts, by the level that varies most (`levels.ts`), corrected for the number of factors.
 *
 * A share is what its factor adds to those that changed before it, averaged over all orders of changes whose every step was measured
 * (`inference/shares.ts`): with all combinations of the two levels these are Shapley's values, which favour no order. Shares multiply to
 * the whole even if factors interact. Factors that no order separates have one share together.
 *
 * @param margin shares within 1 / (1 + margin) to 1 + margin count as no share
 * @param alpha probability of blaming any factor if none has a share
 * @throws RangeError if the cells form no design: different factors or numbers of invocations, or a level that was not measured
 */
export function attributeRatio(
  cells: readonly Cell[],
  ends: Ends,
  margin = DEFAULT_MARGIN,
  alpha = 0.01,
): Attribution {
  const { from, to } = ends;
  const design = buildDesign(cells, ends);
  for (const end of [from, to]) checkMeasured(cells, end);
  const corners = findCorners(cells, ends, design.factors);
  const known = corners.map((corner) => corner !== undefined);
  const blocks = findFinestBlocks(known);
  const blockCorners = pickBlockValues(corners, blocks);
  const changed = blocks.map((block) => block.map((factor) => design.factors[factor] ?? ''));
  const measured = (own: readonly number[]) => combineEffects(design.effects(own), design.rounds);
  const onBlocks = (own: readonly number[]) => measured(spreadWeights(cells, blockCorners, own));
  const judged = (all: readonly SampleComparison[]) => judgeComparisons(all, { margin, alpha });
  const isKnown = pickBlockValues(known, blocks);
  const shares = judged(blocks.map((_, block) => onBlocks(computeOrderWeights(isKnown, block) ?? [])));
  const [total] = judged([
    onBlocks(blockCorners.map((_, set) => computeEndWeight(set, blockCorners.length))),
  ]);
  if (total === undefined) throw new Error('one whole has one verdict');
  const named = shares.map((share, index): FactorShare => {
    const factors = changed[index] ?? [];
    const levels = (of: FactorSettings) => factors.map((factor) => of[factor] ?? '').join(TOGETHER);
    return {
      factor: factors.join(TOGETHER),
      from: levels(from),
      to: levels(to),
      share,
      verdict: judgeShare(share),
    };
  });
  return {
    total,
    shares: named.toSorted((a, b) => measureShare(b.share) - measureShare(a.share)),
    method: known.includes(false) ? 'ordered' : 'exact',
  };
}

/** Separator between factors that only changed together, and between their levels. */
export const TOGETHER = ' + ';

/** Returns the weight of a set in the total, which is all changes minus none. */
function computeEndWeight(set: number, sets: number): number {
  if (set === 0) return -1;
  return set === sets - 1 ? 1 : 0;
}

function judgeShare(share: JudgedComparison): ShareVerdict {
  if (share.verdict === 'equivalent') return 'no share';
  const isLarge = Math.abs(Math.log(share.ratio)) > Math.log1p(share.margin);
  return share.verdict === 'different' && isLarge ? 'contributes' : 'cannot tell';
}

function measureShare(share: JudgedComparison): number {
  return Math.abs(Math.log(share.ratio));
}

/**
 * Validates the cells. Returns the factors that change, the fewest rounds of an invocation, and a function that sums weighted cells into
 * one effect for each invocation.
 */
function buildDesign(cells: readonly Cell[], { from, to }: Ends) {
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
    const got = `${samples.length} of ${nameLevels(levels)}`;
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
  return computeTrimmedMean(rounds.map(Math.log));
}

/** Finds the cell of each set of changed factors; undefined if it was not measured. */
function findCorners(
  cells: readonly Cell[],
  { from, to }: Ends,
  factors: readonly string[],
): (Cell | undefined)[] {
  return Array.from({ length: 2 ** factors.length }, (_, set) => {
    const changed = factors.filter((_factor, index) => (set >> index) % 2 === 1);
    return findCell(cells, { ...from, ...Object.fromEntries(changed.map((name) => [name, to[name] ?? ''])) });
  });
}

/** Converts weights of corners to weights of all cells. */
function spreadWeights(
  cells: readonly Cell[],
  corners: readonly (Cell | undefined)[],
  weights: readonly number[],
): number[] {
  return cells.map((cell) => weights[corners.indexOf(cell)] ?? 0);
}

function checkMeasured(cells: readonly Cell[], levels: FactorSettings): void {
  if (findCell(cells, levels) === undefined)
    throw new RangeError(`expected a cell of ${nameLevels(levels)}: it was not measured`);
}

function findCell(cells: readonly Cell[], levels: FactorSettings): Cell | undefined {
  return cells.find((cell) => Object.entries(levels).every(([name, level]) => cell.levels[name] === level));
}

function nameLevels(levels: FactorSettings): string {
  return Object.entries(levels)
    .map(([name, level]) => `${name} ${level}`)
    .join(', ');
}
