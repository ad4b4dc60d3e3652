import { createHash } from 'node:crypto';
import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import { copyFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate as pause } from 'node:timers/promises';
import { MeshError, readSystemCode, toErrorMessage } from '../contracts/errors.ts';
import { resolveEngine, type Team } from '../contracts/team.ts';
import type { Link } from '../hub/link.ts';
import { readReportedWork } from '../recording/agent-work.ts';
import { MANIFEST_VERSION } from '../recording/read-archive.ts';
import { RECORDING_FILE } from '../recording/recording.ts';
import type { LinesByType, RunRecord } from '../recording/run-record.ts';
import { Timeline } from '../recording/timeline.ts';
import { describeEnvironment } from './manifest.ts';
import { buildRecordedMetrics, NOT_RECORDED } from './metrics/recorded-metrics.ts';
import type { RunFolder } from './run-folder.ts';
import type { RunOptions } from './run-options.ts';
import type { TaskLog } from './task-log.ts';

/** Maximum bytes of an archive; further files are listed in the manifest and left out. */
const MAX_ARCHIVE_BYTES = 2 * 1024 * 1024 * 1024;

/** Facts about a finished run for its archive, besides its options and its workspaces. */
interface FinishedRun {
  readonly runId: string;
  readonly startedAt: Date;
  readonly revision: string | null;
  /** Present only in runs with faults. */
  readonly faults: object | undefined;
  /** Text of `metrics.json`. */
  readonly metrics: string;
}

/**
 * Writes the archive from which a run can be inspected, repeated and replayed: its recording is already in
 * the workspaces.
 */
export async function archiveRun(
  { workspaces, resultsFile, archiveFile }: RunFolder,
  { adapter, engine, team, command, timeoutMs }: RunOptions,
  { runId, startedAt, revision, faults, metrics }: FinishedRun,
): Promise<void> {
  if (existsSync(resultsFile)) await copyFile(resultsFile, path.join(workspaces, 'results.jsonl'));
  await writeFile(path.join(workspaces, 'metrics.json'), metrics, { mode: 0o600 });
  await writeArchive(archiveFile, workspaces, {
    run_id: runId,
    started_at: startedAt.toISOString(),
    command,
    environment: describeEnvironment(),
    git_revision: revision,
    adapter: adapter.name,
    engine: engine.name,
    seeds: listSeeds(team),
    faults,
    task_timeout_ms: timeoutMs,
    team,
  });
}

/**
 * Writes the archive of a run, whole or not at all: everything below `workspaces`, and `manifest.json`, which
 * lists all files with their hashes.
 */
export async function writeArchive(
  archiveFile: string,
  workspaces: string,
  manifest: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { files, omitted } = await listFiles(workspaces);
  const whole = { schema_version: MANIFEST_VERSION, ...manifest, files, omitted };
  await writeFile(path.join(workspaces, 'manifest.json'), `${JSON.stringify(whole, null, 2)}\n`);
  // The module is loaded on demand: until then the agents' start has the processor.
  const { create } = await import('tar');
  const temporary = `${archiveFile}.part`;
  const names = ['manifest.json', ...files.map((file) => file.path)];
  // Level 1, because a person waits for it.
  try {
    await create(
      {
        gzip: { level: 1 },
        file: temporary,
        cwd: workspaces,
        portable: true,
        noDirRecurse: true,
        mode: 0o600,
      },
      names,
    );
    await rename(temporary, archiveFile);
  } catch (error) {
    // A folder of that name is the user's, and stays; the first fault is the one to report.
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
}

interface ManifestFile {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/**
 * Lists all files below `folder` with their hashes, without links and dot files; paths have `/` and are
 * sorted.
 */
async function listFiles(folder: string): Promise<{ files: ManifestFile[]; omitted: string[] }> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .filter((name) => !name.split(path.sep).some((part) => part.startsWith('.')))
    .sort();
  const files: ManifestFile[] = [];
  const omitted: string[] = [];
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  let total = 0;
  for (const name of names) {
    const file = path.join(folder, name);
    const { size } = await stat(file);
    total += size;
    if (total > MAX_ARCHIVE_BYTES) {
      omitted.push(name);
      continue;
    }
    files.push({ path: name.split(path.sep).join('/'), bytes: size, sha256: await hashFile(file, piece) });
  }
  return { files, omitted };
}

/** Bytes of a file that are read at once; signals wait for them. */
const PIECE_BYTES = 1024 * 1024;

/** Returns the digest of a file, read by way of `piece`. Streams take longer for the small files of most runs. */
async function hashFile(file: string, piece: Buffer): Promise<string> {
  const hash = createHash('sha256');
  const descriptor = openSync(file, 'r');
  try {
    for (let bytes = -1; bytes !== 0; ) {
      bytes = readSync(descriptor, piece);
      hash.update(piece.subarray(0, bytes));
      await pause();
    }
  } finally {
    closeSync(descriptor);
  }
  return hash.digest('hex');
}

/** Sources of a run's recording, and of the metrics that come from it. */
interface RecordedRun {
  readonly runId: string;
  readonly record: RunRecord;
  readonly tasks: TaskLog;
  readonly links: readonly Link[];
  /** Lines of agents that handed in no ledger. */
  readonly decoded: ReadonlyMap<Link, LinesByType>;
  readonly isTimeUp: () => boolean;
}

/**
 * Writes the hub's record, joined with the agents' reports, as a file; everything but the payloads stays in
 * memory. A run whose recording cannot be written still has its figures.
 */
export async function writeRecording(
  workspaces: string,
  options: RunOptions,
  run: RecordedRun,
): Promise<typeof NOT_RECORDED> {
  try {
    const { traces, missing } = await writePackets(workspaces, options, run);
    const packets = traces.filter(({ cause }) => cause !== null).length;
    return buildRecordedMetrics(new Timeline(traces), { packets, missing }, run.links, run.decoded);
  } catch (error) {
    if (!(error instanceof MeshError) && readSystemCode(error) === undefined) throw error;
    const missing = [`the recording, which could not be written: ${toErrorMessage(error)}`];
    return { ...NOT_RECORDED, recording: { packets: 0, missing } };
  }
}

async function writePackets(
  workspaces: string,
  { team, adapter, engine }: RunOptions,
  { runId, record, tasks, isTimeUp }: RecordedRun,
): ReturnType<RunRecord['write']> {
  const header = {
    run_id: runId,
    team: team.name,
    final: team.final,
    routing: team.routing,
    adapter: adapter.name,
    engine: engine.name,
    agents: team.agents.map(({ id, tool }) => ({ id, tool })),
  };
  const written = await record.write(path.join(workspaces, RECORDING_FILE), {
    header: () => header,
    payloadOf: (taskId) => tasks.payloadOf(taskId),
    work: await readReportedWork(
      workspaces,
      team.agents.map(({ id }) => id),
      runId,
      isTimeUp,
    ),
    isTimeUp,
  });
  await record.remove();
  return written;
}

/** Returns the seeds of all random decisions: only a model's sampling is random. */
function listSeeds(team: Team): Record<string, unknown> {
  const seeds = team.agents.map((agent) => [agent.id, resolveEngine(team, agent).options?.seed ?? null]);
  return Object.fromEntries(seeds);
}
