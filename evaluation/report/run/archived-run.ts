import * as z from 'zod';
import { MeshError, messageOf } from '../../../core/contracts/errors.ts';
import { ledgerLineSchema } from '../../../core/contracts/ledger.ts';
import { nodeIdSchema } from '../../../core/contracts/packet.ts';
import { readArchivedTexts } from '../../../core/recording/read-archive.ts';
import { parseRecording, RECORDING_FILE, type Recording } from '../../../core/recording/recording.ts';
import { MAX_READ_BYTES, type RunLog, runLogOf } from '../../../core/recording/run-log.ts';
import { parseJsonLine } from '../../../core/system/json-line.ts';
import { type TaskEnding, taskEndings } from './task-endings.ts';

const METRICS_FILE = 'metrics.json';
/** Of metrics and recording together, unpacked; a recording comes from logs of at most a quarter of it. */
const MAX_BYTES = 512 * 1024 * 1024;

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
/** What the page needs of `metrics.json`. */
export type ArchivedMetrics = z.infer<typeof metricsSchema>;

/** A run as its archive tells it. */
export interface ArchivedRun {
  readonly metrics: ArchivedMetrics;
  /** null for a run that was too long to be recorded. */
  readonly recording: Recording | null;
  readonly log: RunLog;
  readonly endings: ReadonlyMap<string, TaskEnding>;
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
  // Logs that are too long to be recorded are too long for a page, too.
  const logs = (await readArchivedTexts(archive, isLog, MAX_READ_BYTES)) ?? new Map<string, string>();
  const hub = logs.get('hub.log') ?? '';
  logs.delete('hub.log');
  return {
    metrics: parseJsonLine(metrics, metricsSchema, `${archive}:${METRICS_FILE}`),
    recording: recordingOf(texts.get(RECORDING_FILE) ?? '', `${archive}:${RECORDING_FILE}`),
    log: logOf(hub, logs.values(), archive),
    endings: taskEndings(hub),
  };
}

function isLog(name: string): boolean {
  const [folder, file, ...more] = name.split('/');
  if (name === 'hub.log') return true;
  return file === 'agent.log' && more.length === 0 && nodeIdSchema.safeParse(folder).success;
}

/** A recording of a header alone is that of a run that was too long. */
function recordingOf(text: string, where: string): Recording | null {
  return text.trimEnd().includes('\n') ? parseRecording(text, where) : null;
}

function logOf(hub: string, agents: Iterable<string>, archive: string): RunLog {
  try {
    return runLogOf(hub, agents);
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    throw new MeshError('config', `archive ${archive}: its logs: ${messageOf(error)}`, { cause: error });
  }
}
