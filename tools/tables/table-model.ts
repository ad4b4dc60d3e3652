import { packSparse, packWeightFile, readSparse, readWeightFile } from '@gaia-mesh/reader/weight-file.ts';
import * as z from 'zod';
import { FEATURE_BITS } from './features.ts';

/** Factors of the calibration. */
const CHANCE_FACTORS = 7;

const KIND = 'TABL';
const VERSION = 2;

/** A model trained on questions about tables. */
export interface TableModel {
  /** Weight of each feature. */
  readonly weights: Float32Array;
  /** Words too frequent in questions to identify a cell. */
  readonly common: ReadonlySet<string>;
  /** Weights of the chance's factors, see `answer-table.ts`. */
  readonly calibration: readonly number[];
}

const headSchema = z.object({
  scale: z.number().positive(),
  common: z.array(z.string()),
  calibration: z.array(z.number()).length(CHANCE_FACTORS),
});

const MAX_INT8 = 127;

/**
 * Packs a model: everything but the weights as JSON behind its length, then the weights as sparse int8 of one scale.
 */
export function packTableModel({ weights, common, calibration }: TableModel): Uint8Array {
  // The few largest weights are cut, so that the many others are exact.
  const sizes = weights
    .filter((weight) => weight !== 0)
    .map(Math.abs)
    .sort();
  const most = sizes[Math.floor(sizes.length * 0.9999)] ?? 1;
  const scale = most / MAX_INT8;
  const rounded = Int8Array.from(weights, (weight) =>
    Math.max(-MAX_INT8, Math.min(MAX_INT8, Math.round(weight / scale))),
  );
  const head = Buffer.from(JSON.stringify({ scale, common: [...common], calibration }));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(head.length);
  return packWeightFile(KIND, VERSION, Buffer.concat([length, head, packSparse(rounded)]));
}

export function readTableModel(url: URL): TableModel {
  const body = Buffer.from(readWeightFile(url, KIND, VERSION));
  const end = 4 + body.readUInt32LE(0);
  const head = headSchema.parse(JSON.parse(body.toString('utf8', 4, end)));
  const weights = new Float32Array(1 << FEATURE_BITS);
  readSparse(body.subarray(end), (id, weight) => {
    weights[id] = weight * head.scale;
  });
  return { weights, common: new Set(head.common), calibration: head.calibration };
}
