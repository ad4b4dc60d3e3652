/**
 * The probability that at least one of `k` attempts is right, and that all of them are, estimated from `n` attempts of which
 * `correct` were right. Both are unbiased: they count the ways to draw k of the n attempts. pass@k = 1 − C(n−c, k) / C(n, k)
 * (Chen et al. 2021, "Evaluating Large Language Models Trained on Code"); pass^k = C(c, k) / C(n, k) (Yao et al. 2024, "τ-bench").
 *
 * Both suppose that attempts do not learn from each other; for a team that does, the score by cycle is what to read.
 */
export function passAtK(n: number, correct: number, k: number): { any: number; all: number } {
  if (!(k >= 1 && k <= n && correct >= 0 && correct <= n))
    throw new RangeError(
      `expected 1 <= k <= n and 0 <= correct <= n, got n ${n}, correct ${correct}, k ${k}`,
    );
  return { any: 1 - drawn(n - correct, n, k), all: drawn(correct, n, k) };
}

/** C(m, k) / C(n, k) as a product, whose factors stay within 0..1 where the binomials would overflow. */
function drawn(m: number, n: number, k: number): number {
  let share = 1;
  for (let i = 0; i < k; i++) share *= Math.max(0, m - i) / (n - i);
  return share;
}
