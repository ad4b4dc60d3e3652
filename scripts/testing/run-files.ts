import { readFileSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { ledgerLineSchema } from '../../core/ledger.ts';

/** The files that a run leaves, as an outsider reads them: every key and type is stated here once more, none may be added. */

const count = z.int().nonnegative();
const fraction = z.number().min(0).max(1).nullable();
const status = z.enum(['answered', 'timeout', 'failed']);

const volume = z.strictObject({ packets: count, bytes: count });
const answers = z.strictObject({ tasks: count, answered: count, right: count.nullable() });
const ms = count.nullable();

/** What models took; in runs without one, nothing says it. */
const models = {
  model_calls: count.exactOptional(),
  prompt_tokens: count.exactOptional(),
  completion_tokens: count.exactOptional(),
  cost_usd: z.number().nonnegative().nullable().exactOptional(),
};

const faultsSchema = z.strictObject({
  spec: z.string().nullable(),
  seed: count.nullable(),
  restart: z.enum(['never', 'on-failure']),
  injected: z.strictObject({
    drop: count,
    delay: count,
    dup: count,
    corrupt: count,
    kill: count,
    stall: count,
    partition: count,
  }),
  deliveries: z.strictObject({
    offered: volume,
    delivered: volume,
    duplicated: volume,
    dropped: volume,
    partitioned: volume,
    undeliverable: volume,
    delayed: volume,
    early: volume,
    corrupted: volume,
  }),
  timed: z.array(
    z.strictObject({
      fault: z.string(),
      kind: z.enum(['kill', 'stall', 'partition']),
      at_ms: ms,
      ended_ms: ms,
    }),
  ),
  lost: z.array(
    z.strictObject({
      id: z.string(),
      tool: z.string(),
      dropped: count,
      partitioned: count,
      undeliverable: count,
    }),
  ),
  recoveries: z.array(
    z.strictObject({
      agent: z.string(),
      tool: z.string(),
      lost_at_ms: count,
      back_at_ms: ms,
      took_ms: ms,
      attempts: count,
    }),
  ),
  answers,
  harmed: answers,
});

const metricsSchema = z.strictObject({
  schema_version: z.literal(1),
  run_id: z.string().regex(/^\d{8}-\d{6}-[0-9a-f]{6}$/),
  status,
  answer: z.string().nullable(),
  reason: z.string().exactOptional(),
  adapter: z.string(),
  team: z.string(),
  engine: z.string(),
  bytes_tx: count,
  bytes_rx: count,
  pkt_cnt: count,
  header_overhead: count,
  token_sum: count,
  ...models,
  elapsed_ms: z.number().nonnegative(),
  quality_score: fraction,
  exact_match: fraction,
  rouge_l: fraction,
  normalized_em: fraction,
  f1: fraction,
  token_source: z.enum(['embedded', 'model']),
  init_bytes: count,
  session_bytes: count,
  ack_bytes: count,
  refused_packets: count,
  tasks: count,
  answered: count,
  agents: z.array(
    z.strictObject({
      id: z.string(),
      tool: z.string(),
      status: z.enum(['up', 'lost']),
      fault: z.string().optional(),
      packets_rx: count,
      bytes_rx: count,
      packets_tx: count,
      bytes_tx: count,
      tokens: count,
      refused: count,
      session_bytes: count,
      tool_us: z.number().nonnegative().nullable(),
    }),
  ),
  packet_types: z.record(
    z.string(),
    z.strictObject({ packets: count, bytes_rx: count, bytes_tx: count, tokens: count }),
  ),
  hops: z.array(
    z.strictObject({
      type: z.string(),
      from: z.string(),
      packets: count,
      latency_us: z.strictObject({ median: count.nullable(), p95: count.nullable() }),
      tool_us: count.nullable(),
      mesh_us: z.int().nullable(),
    }),
  ),
  time_us: z
    .strictObject({
      encode: z.number(),
      relay: z.number(),
      wire: z.number(),
      decode: z.number(),
      tool: z.number(),
      engine: z.number(),
      agent: z.number(),
      total: z.number(),
    })
    .nullable(),
  ledger: z.strictObject({
    balanced: z.boolean(),
    differences: z.array(z.string()),
    types: z.record(z.string(), ledgerLineSchema),
    total: ledgerLineSchema,
    unbooked_bytes: count,
    written: z.strictObject({ packets: count, session: count, acks: count, sockets: count }),
    read: z.strictObject({
      packets: count,
      session: count,
      acks: count,
      refused: count,
      torn: count,
      repeated: count,
      sockets: count,
    }),
    faults: z
      .strictObject({
        offered: volume,
        delivered: volume,
        dropped: volume,
        partitioned: volume,
        undeliverable: volume,
        duplicated: volume,
        unsent_bytes: count,
      })
      .exactOptional(),
  }),
  faults: faultsSchema.exactOptional(),
  delivery: z
    .strictObject({
      mode: z.literal('acknowledged'),
      noted: count,
      acknowledged: count,
      undeliverable: count,
      waiting: count,
      redelivered: count,
      dropped: count,
    })
    .exactOptional(),
});

export type Metrics = z.infer<typeof metricsSchema>;

/** Reads `metrics.json` and refuses any key or type that is not as specified. */
export function readMetrics(folder: string): Metrics {
  return metricsSchema.parse(JSON.parse(readFileSync(path.join(folder, 'metrics.json'), 'utf8')));
}

const score = z.number().min(0).max(1).nullable();

/** A line of `results.jsonl`. */
export const resultSchema = z.strictObject({
  task_id: z.string(),
  answer: z.string().nullable(),
  truth: z.string().nullable(),
  exact_match: score,
  rouge_l: score,
  quality_score: score,
  normalized_em: score,
  f1: score,
  token_sum: count,
  bytes_tx: count,
  bytes_rx: count,
  pkt_cnt: count,
  elapsed_ms: z.number().nonnegative(),
  status,
  ...models,
  reason: z.string().exactOptional(),
  scores: z.record(z.string(), score).exactOptional(),
});

const partSchema = z.strictObject({
  tasks: count,
  answered: count,
  normalized_em: score,
  f1: score,
  rouge_l: score,
});

/** What `bench --tasks --json` prints. */
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
  ...models,
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
