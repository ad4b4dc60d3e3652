import { readFileSync, statSync } from 'node:fs';
import * as z from 'zod';
import { fileFaultOf, MeshError, messageOf } from '../../core/contracts/errors.ts';
import { ledgerLineSchema } from '../../core/contracts/ledger.ts';
import { issuesOf } from '../../core/contracts/packet.ts';
import type { Interval } from '../statistics/inference/bootstrap.ts';
import { noiseFloor } from '../statistics/verdict.ts';

/** A comparison of two hundred rounds of all adapters has some 100 kB. */
const MAX_COMPARISON_BYTES = 16 * 1024 * 1024;

const amount = z.number().nonnegative();
/** JSON has no ∞ and writes null: the end of an interval where there are too few rounds for one. */
const unbounded = amount.nullable();
const comparedSchema = z.object({
  /** Rounds. */
  n: z.int().positive(),
  /** Times as long as the baseline. */
  ratio: z.number().positive(),
  low: amount,
  high: unbounded,
  pValue: amount,
  effectSize: z.number(),
});

const adapterSchema = z.object({
  adapter: z.string().min(1),
  ledger: z.object({ types: z.record(z.string(), ledgerLineSchema), total: ledgerLineSchema }),
  /** Bytes of all sockets for packets, copies included. */
  bytes_on_wire: amount,
  session_bytes: amount,
  /** What a model would read; null for formats that are no text. */
  prompt_tokens: amount.nullable(),
  /** In the agents' codecs, for all packets of the recording. */
  encode_us: amount,
  decode_us: amount,
  /** Of all tasks of the recording, without tool time. */
  latency_us: z.object({ median: amount, p95: amount.nullable(), p99: amount.nullable() }),
  /** The same, round by round. Comparisons that were made before the rounds were kept have none. */
  samples_us: z.array(z.number().positive()).max(10_000).default([]),
  rounds: z.int().positive(),
  vs_baseline: z
    .object({
      bytes: z.object({
        ratio: z.number().positive(),
        low: z.number(),
        high: z.number(),
        verdict: z.enum(['smaller', 'larger', 'equal']),
      }),
      time: comparedSchema.extend({
        adjustedP: amount,
        /** Comparisons that were made before it was known have none. */
        detectable: unbounded.default(null),
        verdict: z.enum(['faster', 'slower', 'no detectable difference']),
      }),
    })
    .nullable(),
});

/** One adapter in one run of a matrix, per task: what grows with the number of agents. */
const cellSchema = z.object({
  team: z.string(),
  engine: z.string(),
  agents: z.int().positive(),
  adapter: z.string().min(1),
  /** Of all the hub's sockets, copies included. */
  bytes_per_task: z.number().positive(),
  /** Median, without tool time. */
  ms_per_task: z.number().positive(),
  /** Times that of the baseline in the same run; 1 for the baseline itself. */
  time_ratio: z.number().positive(),
  time_verdict: z.string(),
});

const comparisonSchema = z.object({
  schema_version: z.literal(1),
  sentence: z.string(),
  run_id: z.string(),
  team: z.string(),
  engine: z.string(),
  agents: z.int().positive(),
  tasks: z.int().positive(),
  packets: z.int().positive(),
  /** Milliseconds of one task with its tools, through the baseline. */
  task_ms: amount,
  seed: z.number(),
  environment: z.record(z.string(), z.union([z.string(), z.number()])),
  baseline: z.string(),
  /** The baseline against itself, in the same rounds: the noise that every difference must exceed. */
  null_test: comparedSchema,
  adapters: z.array(adapterSchema).min(1).max(100),
  rounds: z.int().positive(),
  /** Rounds in which a connection did not come about; they are in no figure. */
  lost_rounds: z.int().nonnegative().exactOptional(),
  stopped: z.enum(['precise', 'rounds', 'budget', 'interrupted']),
  /** Comparisons that were made before there were several runs have none. */
  matrix: z.array(cellSchema).max(10_000).default([]),
});

/** `comparison.json`: the first run of the matrix in full, and all of them in short. Every output is made of it. */
export type ComparisonFile = z.infer<typeof comparisonSchema>;
export type ComparedAdapter = ComparisonFile['adapters'][number];
export type MatrixCell = ComparisonFile['matrix'][number];

/** @throws MeshError `config` for a file that is not there, is too large or is no comparison */
export function readComparison(file: string): ComparisonFile {
  let text: string;
  try {
    const { size } = statSync(file);
    if (size > MAX_COMPARISON_BYTES) throw new Error(`more than ${MAX_COMPARISON_BYTES} bytes`);
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new MeshError('config', `comparison ${file}: ${fileFaultOf(error)}`, { cause: error });
  }
  return parseComparison(text, `comparison ${file}`);
}

/** @throws MeshError `config` for a text that is no comparison */
export function parseComparison(text: string, where: string): ComparisonFile {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new MeshError('config', `${where}: not JSON: ${messageOf(error)}`, { cause: error });
  }
  const result = comparisonSchema.safeParse(value);
  if (!result.success) throw new MeshError('config', `${where}: not a comparison: ${issuesOf(result.error)}`);
  return result.data;
}

/** The ratios that the baseline shows against itself; null where there were too few rounds to know. */
export function noiseOf({ null_test: { low, high } }: ComparisonFile): Interval | null {
  return high === null || low === 0 ? null : noiseFloor({ low, high });
}

/** One run's figures are in the comparison's own table. */
export function hasMatrix({ adapters, matrix }: ComparisonFile): boolean {
  return matrix.length > adapters.length;
}
