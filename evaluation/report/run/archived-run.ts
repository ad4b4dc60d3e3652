import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { ledgerLineSchema } from '@gaia-mesh/core/contracts/ledger.ts';
import { TRACE_FILE } from '@gaia-mesh/core/contracts/tool.ts';
import { runWarningSchema } from '@gaia-mesh/core/contracts/warning.ts';
import { readArchivedTexts } from '@gaia-mesh/core/recording/read-archive.ts';
import { parseRecording, RECORDING_FILE, type Recording } from '@gaia-mesh/core/recording/recording.ts';
import { type RunEvent, readRunEvents } from '@gaia-mesh/core/run/run-event.ts';
import { parseJsonLine, tryParseJson } from '@gaia-mesh/core/system/json-line.ts';
import { formatTrace, traceEntrySchema } from '@gaia-mesh/tools/roles/trace.ts';
import * as z from 'zod';
import { type Attempt, attemptSchema } from '../../attempts/attempt.ts';
import { formatCommandLine } from '../../terminal/shell-word.ts';
import { toOneLine } from '../../terminal/table.ts';

export const METRICS_FILE = 'metrics.json';
const HUB_LOG = 'hub.log';
const RESULTS_FILE = 'results.jsonl';
const MANIFEST_FILE = 'manifest.json';
const AGENT_LOG = 'agent.log';
/** Maximum unpacked bytes of metrics and recording together. */
const MAX_BYTES = 512 * 1024 * 1024;
/** Maximum unpacked bytes of the log and the results. */
const MAX_LOG_BYTES = 128 * 1024 * 1024;

const amount = z.number().nonnegative();
/** Bytes of the hub in one direction; `sockets` is the operating system's count of all of them. */
const trafficSchema = z.object({
  packets: amount,
  session: amount,
  acks: amount,
  refused: amount.default(0),
  torn: amount.default(0),
  repeated: amount.default(0),
  sockets: amount,
});
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
  token_source: z.string().optional(),
  elapsed_ms: amount,
  quality_score: amount.nullable(),
  exact_match: amount.nullable().default(null),
  rouge_l: amount.nullable().default(null),
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
    written: trafficSchema.optional(),
    read: trafficSchema.optional(),
  }),
  agents: z
    .array(
      z.object({
        id: z.string(),
        tool: z.string(),
        status: z.string(),
        fault: z.string().optional(),
        packets_rx: amount,
        bytes_rx: amount,
        bytes_tx: amount,
        tokens: amount.nullable(),
        refused: amount,
        tool_us: amount.nullable(),
      }),
    )
    .default([]),
  hops: z
    .array(
      z.object({
        type: z.string(),
        from: z.string(),
        packets: amount,
        tool_us: amount.nullable(),
        mesh_us: amount.nullable(),
      }),
    )
    .default([]),
});
/** The part of `metrics.json` that the page needs. */
export type ArchivedMetrics = z.infer<typeof metricsSchema>;

/** The end of a task. */
export type TaskEnding = Pick<RunEvent<'task_ended'>, 'status' | 'answer' | 'reason' | 'elapsed_ms'>;

const manifestSchema = z.object({
  started_at: z.string(),
  command: z.array(z.string()),
  environment: z.object({ cpu: z.string().optional(), cpus: z.number().optional(), node: z.string() }),
});

/** The origin of a run: when, by which command, on what machine; null where its archive does not say. */
export interface Provenance {
  readonly startedAt: string | null;
  readonly command: string | null;
  readonly machine: string | null;
}

/** The agents' own notes: the end of each log, and the steps of each task. */
interface AgentNotes {
  readonly agents: readonly { readonly id: string; readonly text: string }[];
  readonly traces: readonly { readonly task_id: string; readonly text: string }[];
}

/** A run as its archive tells it. */
export interface ArchivedRun {
  readonly metrics: ArchivedMetrics;
  /** null for a run that was too long to be recorded. */
  readonly recording: Recording | null;
  readonly endings: ReadonlyMap<string, TaskEnding>;
  /** Results of a batch; empty for a run of one task. */
  readonly results: readonly Attempt[];
  readonly made: Provenance;
  readonly logs: AgentNotes;
}

/** @throws MeshError `config` when there is no archive, or what is in it is not a run's */
export async function readArchivedRun(archive: string): Promise<ArchivedRun> {
  const texts = await readArchivedTexts(
    archive,
    (name) => [METRICS_FILE, RECORDING_FILE, MANIFEST_FILE].includes(name),
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
    (name) => [HUB_LOG, RESULTS_FILE].includes(name) || [AGENT_LOG, TRACE_FILE].includes(path.basename(name)),
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
    made: parseProvenance(texts.get(MANIFEST_FILE) ?? ''),
    logs: readAgentNotes(logs ?? new Map()),
  };
}

/** A recording of a header alone is that of a run that was too long. */
function parseWholeRecording(text: string, where: string): Recording | null {
  return text.trimEnd().includes('\n') ? parseRecording(text, where) : null;
}

function parseProvenance(manifest: string): Provenance {
  const parsed = manifestSchema.safeParse(tryParseJson(manifest));
  if (!parsed.success) return { startedAt: null, command: null, machine: null };
  const { started_at, command, environment } = parsed.data;
  const [name = 'bench', ...words] = command;
  const cores = environment.cpus === undefined ? '' : `, ${environment.cpus} cores`;
  return {
    startedAt: started_at,
    command: toOneLine(formatCommandLine(name, words), 2000),
    machine: toOneLine(`${environment.cpu ?? 'unknown processor'}${cores}, Node ${environment.node}`, 120),
  };
}

const noteSchema = traceEntrySchema.extend({ task_id: z.string(), time: z.number() });
/** Agents whose logs are shown, and lines of each: the last ones. */
const MAX_LOGS = 64;
const MAX_LOG_LINES = 40;
/** Characters of one task's steps, and of all. */
const MAX_TRACE_CHARACTERS = 16 * 1024;
const MAX_TRACES_CHARACTERS = 1024 * 1024;

function readAgentNotes(texts: ReadonlyMap<string, string>): AgentNotes {
  const agents = [...texts]
    .filter(([name]) => path.basename(name) === AGENT_LOG)
    .slice(0, MAX_LOGS)
    .map(([name, text]) => ({ id: path.dirname(name), text: readLogEnd(text) }));
  const notes = [...texts]
    .filter(([name]) => path.basename(name) === TRACE_FILE)
    .flatMap(([, text]) => text.split('\n'))
    .flatMap((line) => {
      const parsed = noteSchema.safeParse(tryParseJson(line));
      return parsed.success ? [parsed.data] : [];
    });
  let left = MAX_TRACES_CHARACTERS;
  const traces: AgentNotes['traces'][number][] = [];
  for (const [task_id, steps] of Map.groupBy(notes, (note) => note.task_id)) {
    const text = formatTrace(steps.toSorted((a, b) => a.time - b.time)).slice(0, MAX_TRACE_CHARACTERS);
    left -= text.length;
    if (left < 0) break;
    traces.push({ task_id, text });
  }
  return { agents, traces };
}

/** Returns the last lines of an agent's log without the payloads, which the packets show. */
function readLogEnd(text: string): string {
  const lines = text.split('\n').filter((line) => line !== '');
  const left = lines.length - MAX_LOG_LINES;
  const end = lines.slice(-MAX_LOG_LINES).map((line) => {
    const value = tryParseJson(line);
    if (typeof value !== 'object' || value === null) return toOneLine(line, 300);
    const { payload: _payload, level: _level, ...rest } = value as Record<string, unknown>;
    return toOneLine(JSON.stringify(rest), 400);
  });
  return [...(left > 0 ? [`… ${left} earlier lines are in the archive`] : []), ...end].join('\n');
}
