import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { ledgerLineSchema } from '@gaia-mesh/core/contracts/ledger.ts';
import { runWarningSchema } from '@gaia-mesh/core/contracts/warning.ts';
import { readArchivedTexts } from '@gaia-mesh/core/recording/read-archive.ts';
import { parseRecording, RECORDING_FILE, type Recording } from '@gaia-mesh/core/recording/recording.ts';
import { type RunEvent, readRunEvents } from '@gaia-mesh/core/run/run-event.ts';
import { parseJsonLine } from '@gaia-mesh/core/system/json-line.ts';
import * as z from 'zod';
import { type Attempt, attemptSchema } from '../../attempts/attempt.ts';

export const METRICS_FILE = 'metrics.json';
const HUB_LOG = 'hub.log';
const RESULTS_FILE = 'results.jsonl';
/** Maximum unpacked bytes of metrics and recording together. */
const MAX_BYTES = 512 * 1024 * 1024;
/** Maximum unpacked bytes of the log and the results. */
const MAX_LOG_BYTES = 128 * 1024 * 1024;

const amount = z.number().nonnegative();
const metricsSchema = z.object({
  run_id: z.string(),
  status: z.enum(['answered', 'timeout', 'failed']),
  answer: z.string().nullable(),
  reason: z.string().optional(),
  adapter: z.string(),
  team: z.string(),
  engine: z.string(),
  bytes_tx: amount,
  bytes_rx: amount,
  pkt_cnt: amount,
  header_overhead: amount,
  token_sum: amount,
  elapsed_ms: amount,
  quality_score: amount.nullable(),
  normalized_em: amount.nullable(),
  session_bytes: amount,
  tasks: z.int().nonnegative(),
  answered: z.int().nonnegative(),
  warnings: z.array(runWarningSchema).default([]),
  /** Runs that were made before it was measured have none. */
  time_us: z
    .object({
      encode: z.number(),
      relay: z.number(),
      wire: z.number(),
      decode: z.number(),
      tool: z.number(),
      engine: z.number(),
      agent: z.number(),
      unknown: z.number().default(0),
      total: z.number(),
    })
    .nullable()
    .default(null),
  ledger: z.object({
    balanced: z.boolean(),
    differences: z.array(z.string()),
    types: z.record(z.string(), ledgerLineSchema),
    total: ledgerLineSchema,
  }),
});
/** The part of `metrics.json` that the page needs. */
export type ArchivedMetrics = z.infer<typeof metricsSchema>;

/** The end of a task. */
export type TaskEnding = Pick<RunEvent<'task_ended'>, 'status' | 'answer' | 'reason' | 'elapsed_ms'>;

/** A run as its archive tells it. */
export interface ArchivedRun {
  readonly metrics: ArchivedMetrics;
  /** null for a run that was too long to be recorded. */
  readonly recording: Recording | null;
  readonly endings: ReadonlyMap<string, TaskEnding>;
  /** Results of a batch; empty for a run of one task. */
  readonly results: readonly Attempt[];
}

/** @throws MeshError `config` when there is no archive, or what is in it is not a run's */
export async function readArchivedRun(archive: string): Promise<ArchivedRun> {
  const texts = await readArchivedTexts(
    archive,
    (name) => name === METRICS_FILE || name === RECORDING_FILE,
    MAX_BYTES,
  );
  if (texts === null)
    throw new MeshError(
      'config',
      `archive ${archive}: metrics and recording have more than ${MAX_BYTES} bytes`,
    );
  const metrics = texts.get(METRICS_FILE);
  if (metrics === undefined) throw new MeshError('config', `archive ${archive} holds no ${METRICS_FILE}`);
  // Logs that are too long for a page are not shown.
  const logs = await readArchivedTexts(
    archive,
    (name) => name === HUB_LOG || name === RESULTS_FILE,
    MAX_LOG_BYTES,
  );
  const endings = readRunEvents(logs?.get(HUB_LOG) ?? '', ['task_ended']);
  return {
    metrics: parseJsonLine(metrics, metricsSchema, `${archive}:${METRICS_FILE}`),
    recording: parseWholeRecording(texts.get(RECORDING_FILE) ?? '', `${archive}:${RECORDING_FILE}`),
    endings: new Map(Array.from(endings, (ending) => [ending.task_id, ending])),
    results: (logs?.get(RESULTS_FILE) ?? '')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => parseJsonLine(line, attemptSchema, `${archive}:${RESULTS_FILE}`)),
  };
}

/** A recording of a header alone is that of a run that was too long. */
function parseWholeRecording(text: string, where: string): Recording | null {
  return text.trimEnd().includes('\n') ? parseRecording(text, where) : null;
}
