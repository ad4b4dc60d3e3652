import { readFileSync, statSync } from 'node:fs';
import * as z from 'zod';
import { fileFaultOf, MeshError, messageOf } from '../../core/errors.ts';
import { ledgerLineSchema } from '../../core/ledger.ts';
import { issuesOf } from '../../core/packet.ts';

/** A comparison of two hundred rounds of all adapters has some 100 kB. */
const MAX_COMPARISON_BYTES = 16 * 1024 * 1024;

const amount = z.number().nonnegative();
/** JSON has no ∞ and writes null: the end of an interval where there are too few rounds for one. */
const upperEnd = amount.nullable();
const interval = { ratio: z.number().positive(), low: amount, high: upperEnd };

const adapterSchema = z.object({
  adapter: z.string().min(1),
  ledger: z.object({ total: ledgerLineSchema }),
  session_bytes: amount,
  prompt_tokens: amount.nullable(),
  encode_us: amount,
  decode_us: amount,
  latency_us: z.object({ median: amount, p95: amount.nullable() }),
  /** Comparisons that were made before the rounds were kept have none. */
  samples_us: z.array(z.number().positive()).max(10_000).default([]),
  vs_baseline: z
    .object({
      time: z.object({
        ...interval,
        verdict: z.enum(['faster', 'slower', 'no detectable difference']),
      }),
    })
    .nullable(),
});

const cellSchema = z.object({
  team: z.string(),
  engine: z.string(),
  agents: z.int().positive(),
  adapter: z.string().min(1),
  bytes_per_task: z.number().positive(),
  ms_per_task: z.number().positive(),
  time_verdict: z.string(),
});

const comparisonSchema = z.object({
  schema_version: z.literal(1),
  sentence: z.string(),
  run_id: z.string(),
  team: z.string(),
  tasks: z.int().positive(),
  packets: z.int().positive(),
  seed: z.number(),
  environment: z.record(z.string(), z.union([z.string(), z.number()])),
  baseline: z.string(),
  null_test: z.object({ n: z.int().positive(), ...interval }),
  adapters: z.array(adapterSchema).min(1).max(100),
  rounds: z.int().positive(),
  stopped: z.enum(['precise', 'rounds', 'budget']),
  /** Comparisons that were made before there were several runs have none. */
  matrix: z.array(cellSchema).max(10_000).default([]),
});

/** What the page needs of `comparison.json`. */
export type ComparisonFigures = z.infer<typeof comparisonSchema>;
export type ComparedAdapter = ComparisonFigures['adapters'][number];

/** @throws MeshError `config` for a file that is not there, is too large or is no comparison */
export function readComparison(file: string): ComparisonFigures {
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
export function parseComparison(text: string, where: string): ComparisonFigures {
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
