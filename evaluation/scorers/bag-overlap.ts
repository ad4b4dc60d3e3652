/** Counts the items that two bags share. An item counts as often as it occurs in the bag that has fewer of it. */
export function countBagOverlap(a: Iterable<string>, b: Iterable<string>): number {
  const left = new Map<string, number>();
  for (const item of b) left.set(item, (left.get(item) ?? 0) + 1);
  let shared = 0;
  for (const item of a) {
    const count = left.get(item) ?? 0;
    if (count === 0) continue;
    left.set(item, count - 1);
    shared++;
  }
  return shared;
}
