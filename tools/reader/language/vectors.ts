// Word vectors and word classes: they relate "author" and "novelist", which share no letters.
import { hashWord } from '../hash.ts';
import { packWeightFile, readWeightFile } from '../weight-file.ts';

const KIND = 'VECS';
const VERSION = 1;

type VectorTable = {
  dims: number;
  /** FNV-1a of each word, ascending. Two of 25,000 words share a hash in about one table of 14, which does no harm. */
  hashes: Uint32Array;
  vectors: Int8Array;
  fine: Uint8Array;
  coarse: Uint8Array;
};

let table: VectorTable | undefined;

/** Returns the row of a lower-case word, or -1. */
export function findWordRow(lower: string): number {
  return hashRow(hashWord(lower));
}

/** Returns the row of the word with this hash (see hashWord), or -1. */
export function hashRow(hash: number): number {
  const { hashes } = loadTable();
  const wanted = hash >>> 0;
  let low = 0;
  let high = hashes.length - 1;
  while (low <= high) {
    const middle = (low + high) >>> 1;
    const found = hashes[middle] ?? 0;
    if (found === wanted) return middle;
    if (found < wanted) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}

/** Returns the cosine of two rows, -1 to 1; 0 when either word is unknown. */
export function compareRows(left: number, right: number): number {
  if (left < 0 || right < 0) return 0;
  const { dims, vectors } = loadTable();
  let sum = 0;
  for (let at = 0; at < dims; at++)
    sum += (vectors[left * dims + at] ?? 0) * (vectors[right * dims + at] ?? 0);
  return sum / (127 * 127);
}

/** Returns the cosine of a row with each of `others`, which are known words; all are 0 when the row's word is unknown. */
export function compareWithAll(row: number, others: Int32Array): Float64Array {
  const { dims, vectors } = loadTable();
  const cosines = new Float64Array(others.length);
  if (row < 0) return cosines;
  const vector = vectors.subarray(row * dims, (row + 1) * dims);
  for (let at = 0; at < others.length; at++) {
    let sum = 0;
    for (let axis = 0, place = (others[at] ?? 0) * dims; axis < dims; axis++, place++)
      sum += (vector[axis] ?? 0) * (vectors[place] ?? 0);
    cosines[at] = sum / (127 * 127);
  }
  return cosines;
}

/** Returns one of 255 narrow classes (months, car makers, kinship ...); -1 for an unknown word. */
export function findFineClass(row: number): number {
  return row < 0 ? -1 : (loadTable().fine[row] ?? -1);
}

/** Returns one of 48 broad classes; -1 for an unknown word. */
export function findCoarseClass(row: number): number {
  return row < 0 ? -1 : (loadTable().coarse[row] ?? -1);
}

function loadTable(): VectorTable {
  table ??= unpackVectors(readWeightFile(new URL('../weights/vectors.bin', import.meta.url), KIND, VERSION));
  return table;
}

function unpackVectors(body: Uint8Array): VectorTable {
  const [count = 0, dims = 0] = new Uint32Array(body.buffer, 0, 2);
  const hashes = new Uint32Array(body.buffer, 8, count);
  let at = 8 + 4 * count;
  const vectors = new Int8Array(body.buffer, at, count * dims);
  at += count * dims;
  return {
    dims,
    hashes,
    vectors,
    fine: body.subarray(at, at + count),
    coarse: body.subarray(at + count, at + 2 * count),
  };
}

type VectorEntry = { word: string; vector: Float64Array; fine: number; coarse: number };

/** Packs unit vectors as int8 in the form that the loader reads. */
export function packVectors(entries: readonly VectorEntry[]): Uint8Array {
  const rows = entries
    .map((entry) => ({ hash: hashWord(entry.word) >>> 0, ...entry }))
    .sort((a, b) => a.hash - b.hash);
  const dims = rows[0]?.vector.length ?? 0;
  const body = Buffer.alloc(8 + rows.length * (4 + dims + 2));
  body.writeUInt32LE(rows.length, 0);
  body.writeUInt32LE(dims, 4);
  for (const [index, row] of rows.entries()) {
    body.writeUInt32LE(row.hash, 8 + 4 * index);
    for (const [axis, value] of row.vector.entries()) {
      body.writeInt8(Math.round(127 * value), 8 + 4 * rows.length + index * dims + axis);
    }
    body[8 + rows.length * (4 + dims) + index] = row.fine;
    body[8 + rows.length * (5 + dims) + index] = row.coarse;
  }
  return packWeightFile(KIND, VERSION, body);
}
