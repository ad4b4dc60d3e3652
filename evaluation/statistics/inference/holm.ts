/**
 * Returns adjusted p-values (S. Holm, 1979, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics
 * 6:2), in the order given. Calling those below α keeps the probability of any false call at α or less, however the comparisons depend on
 * each other; ours do, since they share a baseline. An adjusted value is never smaller than that of a smaller p-value.
 */
export function adjustHolm(pValues: readonly number[]): number[] {
  for (const p of pValues) {
    if (!(p >= 0 && p <= 1)) throw new RangeError(`expected p-values from 0 to 1, got ${p}`);
  }
  const adjusted: number[] = [];
  let largest = 0;
  const ascending = [...pValues.entries()].sort(([, a], [, b]) => a - b);
  for (const [rank, [index, p]] of ascending.entries()) {
    largest = Math.max(largest, Math.min(1, (pValues.length - rank) * p));
    adjusted[index] = largest;
  }
  return adjusted;
}
