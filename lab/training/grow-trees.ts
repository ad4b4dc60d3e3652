import { type Forest, LEAF } from '@gaia-mesh/reader/trees.ts';

/** Training rows. Rows of one question are neighbours: group g owns rows starts[g] to starts[g + 1]. */
type RankingRows = {
  /** One array per row, all of the same length. */
  features: readonly ArrayLike<number>[];
  /** Share of the probability that each row should get; a group without any is skipped. */
  targets: Float32Array;
  starts: readonly number[];
  /** Scores that the trees start from and only correct; 0 by default. */
  base?: Float64Array;
};

type TreeOptions = {
  trees: number;
  leaves: number;
  rate: number;
  minRows: number;
  l2: number;
  /** Share of the groups that each tree sees, and of the features that each tree may split on. */
  rowShare: number;
  featureShare: number;
  seed: number;
};

const BINS = 64;

/** Creates seeded uniform numbers in [0, 1) (Marsaglia's xorshift32). */
export function createSeededRandom(seed: number): () => number {
  let state = (seed * 2654435761 + 88675123) >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 4294967296;
  };
}

/** Boosts trees on the gradient of the listwise softmax loss. */
export function growForest(rows: RankingRows, options: TreeOptions): Forest {
  const rowCount = rows.features.length;
  const featureCount = rows.features[0]?.length ?? 0;
  const cuts = Array.from({ length: featureCount }, (_, feature) => chooseCuts(rows.features, feature));
  const bins = cuts.map((edges, feature) => {
    const column = new Uint8Array(rowCount);
    for (let row = 0; row < rowCount; row++) column[row] = findBin(edges, rows.features[row]?.[feature] ?? 0);
    return column;
  });
  const random = createSeededRandom(options.seed);
  const scores = rows.base?.slice() ?? new Float64Array(rowCount);
  const gradient = new Float64Array(rowCount);
  const hessian = new Float64Array(rowCount);
  const builder: NodeList = { feature: [], left: [], threshold: [] };
  const roots: number[] = [];
  for (let tree = 0; tree < options.trees; tree++) {
    const sampled = fillSoftmaxGradients(rows, scores, gradient, hessian, options.rowShare, random);
    const allowed = cuts.map((_, feature) => feature).filter(() => random() < options.featureShare);
    roots.push(growTree(sampled, allowed, bins, cuts, gradient, hessian, options, builder));
    const root = roots.at(-1) ?? 0;
    for (let row = 0; row < rowCount; row++)
      scores[row] = (scores[row] ?? 0) + walk(builder, root, rows.features[row] ?? []);
  }
  return {
    roots: Uint32Array.from(roots),
    feature: Uint8Array.from(builder.feature),
    left: Uint32Array.from(builder.left),
    threshold: Float32Array.from(builder.threshold),
  };
}

type NodeList = { feature: number[]; left: number[]; threshold: number[] };

function walk(nodes: NodeList, root: number, features: ArrayLike<number>): number {
  let node = root;
  for (;;) {
    const feature = nodes.feature[node] ?? LEAF;
    const threshold = nodes.threshold[node] ?? 0;
    if (feature === LEAF) return threshold;
    node = (nodes.left[node] ?? 0) + ((features[feature] ?? 0) <= threshold ? 0 : 1);
  }
}

/** Chooses at most BINS - 1 cut points at quantiles of a sample, as float32, the precision of the shipped file. */
function chooseCuts(features: readonly ArrayLike<number>[], feature: number): Float32Array {
  const step = Math.max(1, Math.floor(features.length / 20_000));
  const sample: number[] = [];
  for (let row = 0; row < features.length; row += step) sample.push(features[row]?.[feature] ?? 0);
  sample.sort((a, b) => a - b);
  const edges = new Set<number>();
  for (let bin = 1; bin < BINS; bin++) {
    const at = Math.floor((bin * sample.length) / BINS);
    const low = sample[at - 1] ?? 0;
    const high = sample[at] ?? 0;
    if (low !== high) edges.add(Math.fround((low + high) / 2));
  }
  const distinct = [...new Set(sample)];
  if (distinct.length < BINS) {
    edges.clear();
    for (let at = 1; at < distinct.length; at++)
      edges.add(Math.fround(((distinct[at - 1] ?? 0) + (distinct[at] ?? 0)) / 2));
  }
  return Float32Array.from([...edges].sort((a, b) => a - b));
}

function findBin(edges: Float32Array, value: number): number {
  let low = 0;
  let high = edges.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (value <= (edges[middle] ?? 0)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Fills gradient and hessian; returns the rows of the sampled groups. */
function fillSoftmaxGradients(
  rows: RankingRows,
  scores: Float64Array,
  gradient: Float64Array,
  hessian: Float64Array,
  share: number,
  random: () => number,
): Int32Array {
  const sampled: number[] = [];
  for (let group = 0; group + 1 < rows.starts.length; group++) {
    const from = rows.starts[group] ?? 0;
    const to = rows.starts[group + 1] ?? 0;
    if (random() >= share) continue;
    let top = Number.NEGATIVE_INFINITY;
    let mass = 0;
    for (let row = from; row < to; row++) {
      top = Math.max(top, scores[row] ?? 0);
      mass += rows.targets[row] ?? 0;
    }
    if (mass === 0) continue;
    let sum = 0;
    let right = 0;
    for (let row = from; row < to; row++) {
      const weight = Math.exp((scores[row] ?? 0) - top);
      sum += weight;
      right += weight * (rows.targets[row] ?? 0);
    }
    for (let row = from; row < to; row++) {
      const weight = Math.exp((scores[row] ?? 0) - top);
      const share = weight / sum;
      // Marginal likelihood: the right rows share the credit in proportion to the probability that the model already
      // gives them.
      const wanted = right === 0 ? 0 : (weight * (rows.targets[row] ?? 0)) / right;
      gradient[row] = wanted - share;
      hessian[row] = Math.max(1e-4, share * (1 - share));
      sampled.push(row);
    }
  }
  return Int32Array.from(sampled);
}

type Split = { gain: number; feature: number; bin: number };
type Open = { node: number; rows: Int32Array; split: Split; sums: [number, number] };

/** Grows a tree best-first up to `leaves`; returns the root's node number. */
function growTree(
  rows: Int32Array,
  allowed: readonly number[],
  bins: readonly Uint8Array[],
  cuts: readonly Float32Array[],
  gradient: Float64Array,
  hessian: Float64Array,
  options: TreeOptions,
  out: NodeList,
): number {
  const addNode = (): number => {
    out.feature.push(LEAF);
    out.left.push(0);
    out.threshold.push(0);
    return out.feature.length - 1;
  };
  const open = (node: number, own: Int32Array): Open => {
    let g = 0;
    let h = 0;
    for (const row of own) {
      g += gradient[row] ?? 0;
      h += hessian[row] ?? 0;
    }
    return {
      node,
      rows: own,
      sums: [g, h],
      split: findBestSplit(own, g, h, allowed, bins, cuts, gradient, hessian, options),
    };
  };
  const root = addNode();
  const leaves = [open(root, rows)];
  while (leaves.length < options.leaves) {
    let pick = 0;
    for (const [index, leaf] of leaves.entries())
      if (leaf.split.gain > (leaves[pick]?.split.gain ?? 0)) pick = index;
    const leaf = leaves[pick];
    if (leaf === undefined || leaf.split.gain <= 1e-9) break;
    const { feature, bin } = leaf.split;
    const column = bins[feature] ?? new Uint8Array(0);
    const left = addNode();
    addNode();
    out.feature[leaf.node] = feature;
    out.left[leaf.node] = left;
    out.threshold[leaf.node] = cuts[feature]?.[bin] ?? 0;
    leaves.splice(
      pick,
      1,
      open(
        left,
        leaf.rows.filter((row) => (column[row] ?? 0) <= bin),
      ),
      open(
        left + 1,
        leaf.rows.filter((row) => (column[row] ?? 0) > bin),
      ),
    );
  }
  for (const leaf of leaves)
    out.threshold[leaf.node] = (options.rate * leaf.sums[0]) / (leaf.sums[1] + options.l2);
  return root;
}

function findBestSplit(
  rows: Int32Array,
  gradientSum: number,
  hessianSum: number,
  allowed: readonly number[],
  bins: readonly Uint8Array[],
  cuts: readonly Float32Array[],
  gradient: Float64Array,
  hessian: Float64Array,
  options: TreeOptions,
): Split {
  const best: Split = { gain: 0, feature: 0, bin: 0 };
  if (rows.length < 2 * options.minRows) return best;
  const parent = gradientSum ** 2 / (hessianSum + options.l2);
  const g = new Float64Array(BINS);
  const h = new Float64Array(BINS);
  const n = new Int32Array(BINS);
  for (const feature of allowed) {
    const column = bins[feature];
    const edges = cuts[feature]?.length ?? 0;
    if (column === undefined || edges === 0) continue;
    g.fill(0);
    h.fill(0);
    n.fill(0);
    for (let index = 0; index < rows.length; index++) {
      const row = rows[index] ?? 0;
      const bin = column[row] ?? 0;
      g[bin] = (g[bin] ?? 0) + (gradient[row] ?? 0);
      h[bin] = (h[bin] ?? 0) + (hessian[row] ?? 0);
      n[bin] = (n[bin] ?? 0) + 1;
    }
    let leftG = 0;
    let leftH = 0;
    let leftRows = 0;
    for (let bin = 0; bin < edges; bin++) {
      leftG += g[bin] ?? 0;
      leftH += h[bin] ?? 0;
      leftRows += n[bin] ?? 0;
      if (leftRows < options.minRows || rows.length - leftRows < options.minRows) continue;
      const rightG = gradientSum - leftG;
      const rightH = hessianSum - leftH;
      const gain = leftG ** 2 / (leftH + options.l2) + rightG ** 2 / (rightH + options.l2) - parent;
      if (gain > best.gain) Object.assign(best, { gain, feature, bin });
    }
  }
  return best;
}
