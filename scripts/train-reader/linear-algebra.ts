/** The `count` axes of greatest variance of centred vectors, by power iteration with deflation. */
export function principalAxes(vectors: readonly Float64Array[], count: number): Float64Array[] {
  const size = vectors[0]?.length ?? 0;
  const covariance = Array.from({ length: size }, () => new Float64Array(size));
  for (const vector of vectors) {
    for (const [row, cells] of covariance.entries()) {
      const left = vector[row] ?? 0;
      for (let column = 0; column < size; column++)
        cells[column] = (cells[column] ?? 0) + left * (vector[column] ?? 0);
    }
  }
  const axes: Float64Array[] = [];
  for (let index = 0; index < count; index++) {
    let axis = unit(Float64Array.from({ length: size }, (_, at) => Math.cos(at * (index + 1))));
    for (let round = 0; round < 100; round++) {
      let next = Float64Array.from(covariance, (row) => dot(row, axis));
      for (const found of axes) {
        const share = dot(next, found);
        next = next.map((value, at) => value - share * (found[at] ?? 0));
      }
      axis = unit(next);
    }
    axes.push(axis);
  }
  return axes;
}

export function dot(left: ArrayLike<number>, right: ArrayLike<number>): number {
  let sum = 0;
  for (let at = 0; at < left.length; at++) sum += (left[at] ?? 0) * (right[at] ?? 0);
  return sum;
}

export function unit(vector: Float64Array): Float64Array {
  const length = Math.sqrt(dot(vector, vector)) || 1;
  return vector.map((value) => value / length);
}

export function project(vector: Float64Array, axes: readonly Float64Array[]): Float64Array {
  return Float64Array.from(axes, (axis) => dot(vector, axis));
}

/** Spherical k-means; the first centres are evenly spread over the list, so the result is the same every time. */
export function cluster(vectors: readonly Float64Array[], count: number, rounds: number): Int32Array {
  const stride = Math.max(1, Math.floor(Math.min(vectors.length, 20 * count) / count));
  let centres = Array.from({ length: count }, (_, index) => vectors[index * stride] ?? new Float64Array(0));
  const owners = new Int32Array(vectors.length);
  for (let round = 0; round < rounds; round++) {
    const sums = centres.map((centre) => new Float64Array(centre.length));
    for (const [index, vector] of vectors.entries()) {
      let best = 0;
      let bestDot = Number.NEGATIVE_INFINITY;
      for (const [candidate, centre] of centres.entries()) {
        const value = dot(centre, vector);
        if (value > bestDot) {
          bestDot = value;
          best = candidate;
        }
      }
      owners[index] = best;
      const sum = sums[best];
      if (sum !== undefined) for (const [at, value] of vector.entries()) sum[at] = (sum[at] ?? 0) + value;
    }
    centres = sums.map((sum, index) => (dot(sum, sum) > 0 ? unit(sum) : (centres[index] ?? sum)));
  }
  return owners;
}
