/** Against columns that say the same. */
const RIDGE: number = 1e-3;
const ROUNDS = 25;

/** The weights of a logistic regression, by Newton's method. */
export function fitLogistic(rows: readonly (readonly number[])[], isRight: readonly boolean[]): number[] {
  const size = rows[0]?.length ?? 0;
  const weights = new Array<number>(size).fill(0);
  for (let round = 0; round < ROUNDS; round++) {
    const slope = weights.map((weight) => -RIDGE * weight);
    const bend = weights.map((_, at) => weights.map((__, other) => (at === other ? RIDGE : 0)));
    for (const [at, row] of rows.entries()) {
      const sum = row.reduce((total, value, index) => total + value * (weights[index] ?? 0), 0);
      const chance = 1 / (1 + Math.exp(-sum));
      const rest = (isRight[at] === true ? 1 : 0) - chance;
      for (const [index, value] of row.entries()) {
        slope[index] = (slope[index] ?? 0) + rest * value;
        const line = bend[index] ?? [];
        for (const [other, second] of row.entries())
          line[other] = (line[other] ?? 0) + chance * (1 - chance) * value * second;
      }
    }
    for (const [at, change] of solved(bend, slope).entries()) weights[at] = (weights[at] ?? 0) + change;
  }
  return weights;
}

/** A system of linear equations, by elimination; its matrix is positive definite. */
function solved(matrix: readonly (readonly number[])[], right: readonly number[]): number[] {
  const rows = matrix.map((line, at) => [...line, right[at] ?? 0]);
  for (const [at, pivot] of rows.entries()) {
    const scale = pivot[at] ?? 1;
    for (const [other, line] of rows.entries()) {
      if (other === at) continue;
      const share = (line[at] ?? 0) / scale;
      for (const [column, value] of pivot.entries()) line[column] = (line[column] ?? 0) - share * value;
    }
  }
  return rows.map((line, at) => (line.at(-1) ?? 0) / (line[at] ?? 1));
}
