import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { TRACE_FILE } from '@gaia-mesh/core/contracts/tool.ts';
import { readArchivedTexts } from '@gaia-mesh/core/recording/read-archive.ts';
import { parseRecording, RECORDING_FILE, type Recording } from '@gaia-mesh/core/recording/recording.ts';
import { metricsSchema, type RunMetrics } from '@gaia-mesh/core/run/metrics/metrics-schema.ts';
import { type RunEvent, readRunEvents } from '@gaia-mesh/core/run/run-event.ts';
import { parseJsonLine, tryParseJson } from '@gaia-mesh/core/system/json-line.ts';
import { formatTrace, traceEntrySchema } from '@gaia-mesh/tools/roles/trace.ts';
import * as z from 'zod';
import { type Attempt, attemptSchema } from '../../attempts/attempt.ts';
import { describeMaking } from '../../plan/making.ts';
import { toOneLine } from '../../terminal/table.ts';
import type { RunData } from '../page-data.ts';

const METRICS_FILE = 'metrics.json';
const HUB_LOG = 'hub.log';
const RESULTS_FILE = 'results.jsonl';
const MANIFEST_FILE = 'manifest.json';
const AGENT_LOG = 'agent.log';
/** Maximum unpacked bytes of metrics and recording together. */
const MAX_BYTES = 512 * 1024 * 1024;
/** Maximum unpacked bytes of the log and the results. */
const MAX_LOG_BYTES = 128 * 1024 * 1024;

/** The end of a task. */
type TaskEnding = Pick<RunEvent<'task_ended'>, 'status' | 'answer' | 'reason' | 'elapsed_ms'>;

const manifestSchema = z.object({
  started_at: z.string(),
  command: z.array(z.string()),
  environment: z.object({ cpu: z.string().optional(), cpus: z.number().optional(), node: z.string() }),
});

/** A run as it is read from its archive. */
export interface ArchivedRun {
  readonly metrics: RunMetrics;
  /** null for a run that was too long to be recorded. */
  readonly recording: Recording | null;
  readonly endings: ReadonlyMap<string, TaskEnding>;
  /** Results of a batch; empty for a run of one task. */
  readonly results: readonly Attempt[];
  readonly made: RunData['made'];
  readonly logs: RunData['logs'];
}

/** @throws MeshError `config` when there is no archive, or its content is not that of a run */
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
    metrics: parseMetrics(metrics, `${archive}:${METRICS_FILE}`),
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

/** Parses `metrics.json`. Unknown keys come from a later version and are left out. */
function parseMetrics(text: string, where: string): RunMetrics {
  const value = parseJsonLine(text, z.unknown(), where);
  for (const issue of metricsSchema.safeParse(value).error?.issues ?? []) {
    if (issue.code !== 'unrecognized_keys') continue;
    const holder = issue.path.reduce(
      (own, key) => (own instanceof Object ? Reflect.get(own, key) : own),
      value,
    );
    if (holder instanceof Object) for (const key of issue.keys) Reflect.deleteProperty(holder, key);
  }
  return parseJsonLine(JSON.stringify(value), metricsSchema, where);
}

/** Parses the recording; returns null for one that has only a header, because its run was too long. */
function parseWholeRecording(text: string, where: string): Recording | null {
  return text.trimEnd().includes('\n') ? parseRecording(text, where) : null;
}

function parseProvenance(manifest: string): RunData['made'] {
  const parsed = manifestSchema.safeParse(tryParseJson(manifest));
  if (!parsed.success) return { startedAt: null, command: null, machine: null };
  const { started_at, command, environment } = parsed.data;
  const cores = environment.cpus === undefined ? '' : `, ${environment.cpus} cores`;
  return {
    startedAt: started_at,
    command: toOneLine(describeMaking(command).command, 2000),
    machine: toOneLine(`${environment.cpu ?? 'unknown processor'}${cores}, Node ${environment.node}`, 120),
  };
}

const noteSchema = traceEntrySchema.extend({ task_id: z.string(), time: z.number() });
/** Maximum agents whose logs are shown, and maximum lines of each, which are the last ones. */
const MAX_LOGS = 64;
const MAX_LOG_LINES = 40;
/** Maximum characters of the steps of one task, and of all tasks. */
const MAX_TRACE_CHARACTERS = 16 * 1024;
const MAX_TRACES_CHARACTERS = 1024 * 1024;

function readAgentNotes(texts: ReadonlyMap<string, string>): RunData['logs'] {
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
  const traces: RunData['logs']['traces'][number][] = [];
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
