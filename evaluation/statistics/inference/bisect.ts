/** Halves a range `halvings` times, and returns the ends of the part in which `isBelow` turns false. */
export function bisect(
  [from, to]: readonly [number, number],
  halvings: number,
  isBelow: (value: number) => boolean,
): [below: number, above: number] {
  let [below, above] = [from, to];
  for (let step = 0; step < halvings; step++) {
    const middle = (below + above) / 2;
    if (isBelow(middle)) below = middle;
    else above = middle;
  }
  return [below, above];
}
