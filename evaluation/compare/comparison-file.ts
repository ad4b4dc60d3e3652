import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { ledgerLineSchema } from '@gaia-mesh/core/contracts/ledger.ts';
import { formatIssues } from '@gaia-mesh/core/contracts/packet.ts';
import { readUserText } from '@gaia-mesh/core/system/files/user-file.ts';
import { parseJsonLine } from '@gaia-mesh/core/system/json-line.ts';
import * as z from 'zod';
import { formatCommandLine } from '../terminal/shell-word.ts';

/** Maximum bytes of a comparison file; two hundred rounds of all adapters take about 100 kB. */
const MAX_COMPARISON_BYTES = 16 * 1024 * 1024;

/**
 * Version of the file format. Version 2 has fresh processes for each invocation and three verdicts; files of version 1 are refused, because
 * their figures were measured differently.
 */
export const COMPARISON_VERSION = 2;

const amount = z.number().nonnegative();
/** An amount, or null for ∞, which JSON lacks: the end of an interval if there are too few rounds. */
const unbounded = amount.nullable();
/** The baseline against itself: a ratio with its interval. */
const nullArmSchema = z.object({ ratio: z.number().positive(), low: amount, high: unbounded });
const judgedSchema = z.object({
  /** Fresh processes of each arm. */
  invocations: z.int().positive(),
  /** Samples of each process. */
  rounds: z.int().positive(),
  /** Ratio to the baseline. */
  ratio: z.number().positive(),
  low: amount,
  high: unbounded,
  pValue: amount,
  /** Standard deviations of the ratio's logarithm, between processes and between rounds of one. */
  spread: z.object({ invocations: amount, rounds: amount }),
  adjustedP: amount,
  adjustedEquivalenceP: amount,
  margin: z.number().positive(),
  /** The smallest ratio above 1, or its inverse, that this many invocations would show in four of five measurements. */
  detectable: unbounded,
  verdict: z.enum(['different', 'equivalent', 'cannot tell']),
  /** The interval that a difference has to exceed for its verdict. */
  nullArm: nullArmSchema.optional(),
  /** Invocations that would give a verdict; null if there would be too many, or none would. */
  needed: unbounded,
});

/** Rounds of each invocation, in microseconds of one pass of the recording. */
const samplesSchema = z.array(z.array(z.number().nonnegative()).max(10_000)).max(10_000);

/** Packets of one kind or size class, each counted once. */
const groupSchema = z.object({
  name: z.string().min(1),
  packets: z.int().nonnegative(),
  payload: amount,
  wire: amount,
});

const adapterSchema = z.object({
  adapter: z.string().min(1),
  /** Bytes by the recording's parts, and by size of payload; each sums to the ledger's total. */
  by_part: z.array(groupSchema).max(100).default([]),
  by_size: z.array(groupSchema).max(100).default([]),
  ledger: z.object({ types: z.record(z.string(), ledgerLineSchema), total: ledgerLineSchema }),
  /** Bytes of all sockets for packets, copies included. */
  bytes_on_wire: amount,
  session_bytes: amount,
  /** Wall-clock microseconds in the agents' codecs for all packets of the recording, in steady state. */
  encode_us: amount,
  decode_us: amount,
  /** CPU microseconds of agents and hub in steady state; null if the machine does not count them. */
  cpu_us: amount.nullable(),
  /** Microseconds for all tasks of the recording, without tool time, in steady state. */
  latency_us: z.object({ median: amount, p95: amount.nullable(), p99: amount.nullable() }),
  /** Microseconds of the first pass in fresh processes, and the part of it in their codecs. */
  first_us: amount,
  first_code_us: amount,
  samples_us: samplesSchema,
  samples_cpu_us: samplesSchema.nullable(),
  /** One element for each invocation. */
  samples_first_us: z.array(amount).max(10_000),
  vs_baseline: z
    .object({
      bytes: z.object({
        ratio: z.number().positive(),
        low: z.number(),
        high: z.number(),
        verdict: z.enum(['smaller', 'larger', 'equal']),
      }),
      time: judgedSchema,
      cpu: judgedSchema.nullable(),
      first: judgedSchema.nullable(),
    })
    .nullable(),
});

/** One adapter in one run of a matrix, per task; shows what grows with the number of agents. */
const cellSchema = z.object({
  team: z.string(),
  engine: z.string(),
  agents: z.int().positive(),
  adapter: z.string().min(1),
  /** Bytes on all the hub's sockets, copies included. */
  bytes_per_task: z.number().positive(),
  /** Median milliseconds, without tool time. */
  ms_per_task: z.number().positive(),
  /** Ratio to the baseline in the same run; 1 for the baseline itself. */
  time_ratio: z.number().positive(),
  time_verdict: z.string(),
});

const versionSchema = z.object({ schema_version: z.number() });

const comparisonSchema = z.object({
  schema_version: z.literal(COMPARISON_VERSION),
  /** The result in one sentence; null if there is no verdict. */
  sentence: z.string().nullable(),
  /** The command line that repeats the measurement; null in files from before it was stored. */
  command: z.string().nullable().default(null),
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
  /** Ratios within 1 / (1 + margin) to 1 + margin count as equal. */
  margin: z.number().positive(),
  /** The baseline compared with itself in separate processes: no smaller difference is called. */
  null_test: judgedSchema.extend({
    samples_us: samplesSchema,
    cpu: nullArmSchema.nullish(),
    first: nullArmSchema.nullish(),
  }),
  adapters: z.array(adapterSchema).min(1).max(100),
  /** Fresh processes of each arm, samples of each, and passes of the recording in a sample. */
  invocations: z.int().positive(),
  rounds: z.int().positive(),
  passes: z.int().positive(),
  elapsed_ms: amount,
  /** Invocations that a failed connection ended; they are in no figure. */
  lost_invocations: z.int().nonnegative(),
  /** Adapters that failed, with reasons. */
  failed: z.array(z.string()).default([]),
  stopped: z.enum(['invocations', 'budget', 'interrupted']),
  /** State of the machine during the measurement, one element for each round. */
  machine: z
    .array(
      z.object({
        invocation: z.int().nonnegative(),
        round: z.int().nonnegative(),
        load: amount,
        steal_ms: amount.nullable(),
        throttled_ms: amount.nullable(),
        available_bytes: amount,
      }),
    )
    .max(100_000),
  /** Problems of the machine during the measurement. */
  warnings: z.array(z.string()).max(20),
  matrix: z.array(cellSchema).max(10_000),
});

/** `comparison.json`: the first run of the matrix in full, and all runs in short. All outputs derive from it. */
export type ComparisonFile = z.infer<typeof comparisonSchema>;
export type ComparedAdapter = ComparisonFile['adapters'][number];
export type JudgedPair = z.infer<typeof judgedSchema>;
export type MatrixCell = ComparisonFile['matrix'][number];

/** @throws MeshError `config` if the file is missing, too large, or not a comparison */
export function readComparison(file: string): ComparisonFile {
  return parseComparison(readComparisonText(file), `comparison ${file}`);
}

/** @throws MeshError `config` if the file is missing or too large */
export function readComparisonText(file: string): string {
  return readUserText(file, { what: 'comparison', maxBytes: MAX_COMPARISON_BYTES });
}

/** @throws MeshError `config` if the text is not a comparison */
export function parseComparison(text: string, where: string): ComparisonFile {
  const value = parseJsonLine(text, z.unknown(), where);
  const version = versionSchema.safeParse(value);
  if (version.success && version.data.schema_version !== COMPARISON_VERSION) {
    throw new MeshError(
      'config',
      `${where}: expected schema version ${COMPARISON_VERSION}, got ${version.data.schema_version}: its figures were measured differently; create it again with ${formatCommandLine('compare')}`,
    );
  }
  const result = comparisonSchema.safeParse(value);
  if (!result.success)
    throw new MeshError('config', `${where}: not a comparison: ${formatIssues(result.error)}`);
  return result.data;
}

/** Returns true if the matrix has more than the one run that the comparison's own table shows. */
export function hasMatrix({ adapters, matrix }: ComparisonFile): boolean {
  return matrix.length > adapters.length;
}
