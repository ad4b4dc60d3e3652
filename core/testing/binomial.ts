/**
 * Returns bounds within which a simulated rate agrees with a promised one: the number of events among
 * `trials` of probability `p` lies outside only once in `1 / risk` on each side.
 */
export function binomialBound(trials: number, p: number, risk = 1e-3): { low: number; high: number } {
  if (p > 0.5) {
    const { low, high } = binomialBound(trials, 1 - p, risk);
    return { low: trials - high, high: trials - low };
  }
  let probability = (1 - p) ** trials;
  let below = 0;
  let low = -1;
  for (let k = 0; k < trials; k++) {
    below += probability;
    if (low < 0 && below > risk) low = k;
    if (below >= 1 - risk) return { low, high: k };
    probability *= ((trials - k) / (k + 1)) * (p / (1 - p));
  }
  return { low, high: trials };
}
