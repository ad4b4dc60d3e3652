import { readFileSync } from 'node:fs';
import path from 'node:path';
import { modelSumsSchema } from '@gaia-mesh/core/contracts/usage.ts';
import { metricsSchema } from '@gaia-mesh/core/run/metrics/metrics-schema.ts';
import * as z from 'zod';

/** The schemas of this file describe the files that a run leaves, and refuse keys that are not in them. */

const count = z.int().nonnegative();
const score = z.number().min(0).max(1).nullable();

export type Metrics = z.infer<typeof metricsSchema>;

/** Reads `metrics.json` and refuses any key or type that is not as specified. */
export function readMetrics(folder: string): Metrics {
  return metricsSchema.parse(JSON.parse(readFileSync(path.join(folder, 'metrics.json'), 'utf8')));
}

const partSchema = z.strictObject({
  tasks: count,
  answered: count,
  normalized_em: score,
  f1: score,
  rouge_l: score,
});

/** The output of `bench --tasks --json`. */
export const summarySchema = z.strictObject({
  ...partSchema.shape,
  run_id: z.string(),
  team: z.string(),
  adapter: z.string(),
  engine: z.string(),
  timeout: count,
  failed: count,
  exact_match: score,
  quality_score: score,
  tasks_per_s: z.number().positive(),
  p50_ms: z.number().positive().nullable(),
  p95_ms: z.number().positive().nullable(),
  token_sum: count,
  bytes_tx: count,
  bytes_rx: count,
  pkt_cnt: count,
  ...modelSumsSchema.shape,
  balanced: z.boolean(),
  by_part: z.record(z.string(), partSchema),
});

const manifestSchema = z.strictObject({
  schema_version: z.literal(1),
  run_id: z.string(),
  started_at: z.iso.datetime(),
  command: z.array(z.string()),
  environment: z.record(z.string(), z.union([z.string(), z.number()])),
  git_revision: z.string().nullable(),
  adapter: z.string(),
  engine: z.string(),
  seeds: z.record(z.string(), z.unknown()),
  task_timeout_ms: z.number(),
  faults: z
    .strictObject({
      spec: z.string().nullable(),
      seed: count.nullable(),
      restart: z.enum(['never', 'on-failure']),
    })
    .exactOptional(),
  team: z.looseObject({ name: z.string(), agents: z.array(z.looseObject({ id: z.string() })) }),
  files: z.array(z.strictObject({ path: z.string(), bytes: count, sha256: z.string().length(64) })),
  omitted: z.array(z.string()),
});

/** Reads an archive's `manifest.json`. */
export function readManifest(folder: string): z.infer<typeof manifestSchema> {
  return manifestSchema.parse(JSON.parse(readFileSync(path.join(folder, 'manifest.json'), 'utf8')));
}
