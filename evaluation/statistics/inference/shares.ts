/**
 * Weights of a value of each set of factors in the share of one factor (L. Shapley, 1953, "A value for n-person games"): what it adds when
 * it joins those before it, averaged over all orders in which factors can join. Whatever the values, shares sum to the value of all factors
 * less that of none, and no order is preferred; for variance of a regression this is LMG (R. Lindeman, P. Merenda and R. Gold, 1980).
 *
 * @param factors how many there are; a set is a whole number whose bit f says whether factor f is in it
 * @returns by set, the weight of its value
 */
export function shapleyWeights(factors: number, factor: number): number[] {
  return Array.from({ length: 2 ** factors }, (_, set) => {
    const isIn = (set >> factor) % 2 === 1;
    const others = sizeOf(set) - (isIn ? 1 : 0);
    // Orders in which just these others come before it.
    const share = 1 / (factors * binomial(factors - 1, others));
    return isIn ? share : -share;
  });
}

/**
 * Weights of how far two factors together are from what each does alone, averaged over all sets of the others: 0 where effects multiply
 * (here: add, of logarithms).
 */
export function interactionWeights(factors: number, first: number, second: number): number[] {
  const sets = 2 ** (factors - 2);
  return Array.from({ length: 2 ** factors }, (_, set) => {
    const isSame = (set >> first) % 2 === (set >> second) % 2;
    return (isSame ? 1 : -1) / sets;
  });
}

function sizeOf(set: number): number {
  let size = 0;
  for (let left = set; left > 0; left = Math.floor(left / 2)) size += left % 2;
  return size;
}

function binomial(n: number, k: number): number {
  let result = 1;
  for (let i = 1; i <= k; i++) result *= (n - k + i) / i;
  return result;
}

/** Below this a pivot is rounding: columns are zeros and ones, of at most some hundred rows. */
const NOTHING = 1e-9;

/**
 * Weights of observations in a contrast of the coefficients of a linear model, by least squares: w = X (XᵀX)⁻ c. Null where the model
 * cannot tell the contrast: some other coefficient always changes along with it.
 *
 * @param rows what each observation has of each coefficient
 */
export function contrastWeights(
  rows: readonly (readonly number[])[],
  contrast: readonly number[],
): number[] | null {
  const size = contrast.length;
  const system = contrast.map((wanted, i) => [
    ...contrast.map((_, j) => rows.reduce((sum, row) => sum + (row[i] ?? 0) * (row[j] ?? 0), 0)),
    wanted,
  ]);
  const pivots = reduce(system, size);
  const isTold = system.slice(pivots.length).every((row) => Math.abs(row[size] ?? 0) < NOTHING);
  if (!isTold) return null;
  const solution = new Array<number>(size).fill(0);
  for (const [index, column] of pivots.entries()) solution[column] = system[index]?.[size] ?? 0;
  return rows.map((row) => row.reduce((sum, value, j) => sum + value * (solution[j] ?? 0), 0));
}

/** Gauss and Jordan, with the largest pivot of each column; the columns that have one. */
function reduce(system: number[][], size: number): number[] {
  const pivots: number[] = [];
  for (let column = 0; column < size; column++) {
    const from = pivots.length;
    const sizes = system.slice(from).map((row) => Math.abs(row[column] ?? 0));
    const largest = from + sizes.indexOf(Math.max(...sizes, 0));
    const pivot = system[largest];
    const place = pivot?.[column] ?? 0;
    if (pivot === undefined || Math.abs(place) < NOTHING) continue;
    system[largest] = system[from] ?? [];
    const scaled = pivot.map((value) => value / place);
    system[from] = scaled;
    for (const [index, row] of system.entries()) {
      const factor = row[column] ?? 0;
      if (index === from || factor === 0) continue;
      system[index] = row.map((value, j) => value - factor * (scaled[j] ?? 0));
    }
    pivots.push(column);
  }
  return pivots;
}
