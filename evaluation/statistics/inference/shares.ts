/**
 * Returns the weight that the value of each set of factors has in the share of one factor: what the factor adds when it joins those before
 * it, averaged over all orders in which factors can join by sets whose values are known. Whatever the values, the shares sum to the value
 * of all factors minus that of none. If every set is known, this is L. Shapley's value (1953, "A value for n-person games"), and no order
 * is preferred; for the variance of a regression it is LMG (R. Lindeman, P. Merenda and R. Gold, 1980). Otherwise it is the value over the
 * feasible orders only (U. Faigle and W. Kern, 1992, "The Shapley value for cooperative games under precedence constraints").
 *
 * @param known true at each set that has a value; a set is a whole number whose bit f is 1 if factor f is in it
 * @returns the weight of each set's value; undefined if no order leads from none to all
 */
export function computeOrderWeights(known: readonly boolean[], factor: number): number[] | undefined {
  const { before, after } = countOrders(known);
  const orders = before.at(-1) ?? 0;
  if (orders === 0) return undefined;
  const joined = 2 ** factor;
  /** Returns the share of the orders in which the factor joins this set. */
  const share = (set: number) => ((before[set] ?? 0) * (after[set + joined] ?? 0)) / orders;
  return known.map((_, set) => (hasBit(set, joined) ? share(set - joined) : -share(set)));
}

function hasBit(set: number, bit: number): boolean {
  return Math.floor(set / bit) % 2 === 1;
}

/** Counts, for each set, the orders that lead from none to it, and those that lead from it to all, by known sets. */
function countOrders(known: readonly boolean[]) {
  const size = known.length;
  const before = new Float64Array(size);
  const after = new Float64Array(size);
  for (const set of known.keys()) {
    const last = size - 1 - set;
    if (known[set] === true)
      before[set] = set === 0 ? 1 : sumValues(listSmallerSets(set).map((one) => before[one] ?? 0));
    if (known[last] === true)
      after[last] = set === 0 ? 1 : sumValues(listLargerSets(last, size).map((one) => after[one] ?? 0));
  }
  return { before, after };
}

/** Lists the sets that have one factor less. */
function listSmallerSets(set: number): number[] {
  return listBits(set + 1)
    .filter((bit) => hasBit(set, bit))
    .map((bit) => set - bit);
}

/** Lists the sets below `size` that have one factor more. */
function listLargerSets(set: number, size: number): number[] {
  return listBits(size)
    .filter((bit) => !hasBit(set, bit))
    .map((bit) => set + bit);
}

/** Lists the powers of two below `size`. */
function listBits(size: number): number[] {
  return Array.from({ length: Math.ceil(Math.log2(size)) }, (_, index) => 2 ** index);
}

function sumValues(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}

/**
 * Returns the finest division of factors into blocks for which some order of the blocks leads from none to all by known sets. Factors that
 * always changed together are in one block.
 *
 * @param known sets of factors, as in {@link computeOrderWeights}
 * @returns the factors of each block
 */
export function findFinestBlocks(known: readonly boolean[]): number[][] {
  const divisions = listDivisions(listBits(known.length).length).toSorted((a, b) => b.length - a.length);
  const finest = divisions.find(
    (blocks) => computeOrderWeights(pickBlockValues(known, blocks), 0) !== undefined,
  );
  return finest ?? [];
}

/** Returns the values by set of blocks from the values by set of factors. */
export function pickBlockValues<Value>(
  values: readonly Value[],
  blocks: readonly (readonly number[])[],
): Value[] {
  return Array.from({ length: 2 ** blocks.length }, (_, set) => {
    const factors = blocks.filter((_block, index) => hasBit(set, 2 ** index)).flat();
    return values[sumValues(factors.map((factor) => 2 ** factor))] as Value;
  });
}

/** Lists all divisions of this many factors into blocks. */
function listDivisions(factors: number): number[][][] {
  if (factors === 0) return [[]];
  const last = factors - 1;
  return listDivisions(last).flatMap((blocks) => [
    [...blocks, [last]],
    ...blocks.map((joined) => blocks.map((block) => (block === joined ? [...block, last] : block))),
  ]);
}
