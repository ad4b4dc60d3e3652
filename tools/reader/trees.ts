// Boosted regression trees, as the trained rankers of steps 2 and 4 use them.
// Trained listwise: the softmax over a question's candidates (Cao et al. 2007, ListNet) boosted as in
// Friedman 2001, "Greedy function approximation"; see lab/training/grow-trees.ts.
import { packWeightFile, readWeightFile } from './weight-file.ts';

const KIND = 'TREE';
const VERSION = 1;

/**
 * All trees in four flat arrays. Node n: go to `left[n]` when feature[n] <= threshold[n], else to `left[n] + 1`.
 * A leaf has feature 255 and its value in `threshold`.
 */
export type Forest = { roots: Uint32Array; feature: Uint8Array; left: Uint32Array; threshold: Float32Array };

export const LEAF = 255;

export function scoreForest(
  { roots, feature, left, threshold }: Forest,
  features: ArrayLike<number>,
): number {
  let score = 0;
  for (let tree = 0; tree < roots.length; tree++) {
    let node = roots[tree] ?? 0;
    let tested = feature[node] ?? LEAF;
    while (tested !== LEAF) {
      const isLeft = (features[tested] ?? 0) <= (threshold[node] ?? 0);
      node = (left[node] ?? 0) + (isLeft ? 0 : 1);
      tested = feature[node] ?? LEAF;
    }
    score += threshold[node] ?? 0;
  }
  return score;
}

export function loadForest(url: URL): Forest {
  const body = readWeightFile(url, KIND, VERSION);
  const [trees = 0, nodes = 0] = new Uint32Array(body.buffer, 0, 2);
  const roots = new Uint32Array(body.buffer, 8, trees);
  const left = new Uint32Array(body.buffer, 8 + 4 * trees, nodes);
  const threshold = new Float32Array(body.buffer, 8 + 4 * (trees + nodes), nodes);
  return { roots, left, threshold, feature: body.subarray(8 + 4 * (trees + 2 * nodes)) };
}

export function packForest(forest: Forest): Uint8Array {
  const trees = forest.roots.length;
  const nodes = forest.feature.length;
  const body = new Uint8Array(8 + 4 * (trees + 2 * nodes) + nodes);
  new Uint32Array(body.buffer, 0, 2).set([trees, nodes]);
  new Uint32Array(body.buffer, 8, trees).set(forest.roots);
  new Uint32Array(body.buffer, 8 + 4 * trees, nodes).set(forest.left);
  new Float32Array(body.buffer, 8 + 4 * (trees + nodes), nodes).set(forest.threshold);
  body.set(forest.feature, 8 + 4 * (trees + 2 * nodes));
  return packWeightFile(KIND, VERSION, body);
}
