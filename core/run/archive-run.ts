import { copyFile } from 'node:fs/promises';
import path from 'node:path';
import type { ProtocolAdapter } from '../contracts/adapter.ts';
import { engineOf, type Team } from '../contracts/team.ts';
import { reportedWork } from '../recording/agent-work.ts';
import { RECORDING_FILE } from '../recording/recording.ts';
import type { RunRecord } from '../recording/run-record.ts';
import { Timeline } from '../recording/timeline.ts';
import { writeArchive } from './archive.ts';
import { environmentOf } from './manifest.ts';
import type { RunMetrics } from './metrics/metrics-schema.ts';
import type { RunFolder } from './run-folder.ts';
import type { TaskLog } from './task-log.ts';

/** A run that is over, with all that its archive says of it beside what its workspaces hold. */
interface FinishedRun {
  readonly runId: string;
  readonly team: Team;
  readonly adapter: ProtocolAdapter;
  readonly engine: { readonly name: string };
  readonly version: string;
  readonly command: readonly string[];
  readonly timeoutMs: number;
  readonly startedAt: Date;
  readonly revision: string | null;
  /** Only in runs with faults. */
  readonly faults: object | undefined;
  /** The text of `metrics.json`. */
  readonly metrics: string;
  /** Only a batch leaves `results.jsonl`. */
  readonly isBatch: boolean;
}

/** Writes the archive, from which a run can be looked at, made again and replayed: its recording lies in the workspaces already. */
export async function archiveRun(folder: RunFolder, run: FinishedRun): Promise<void> {
  const { adapter, engine, team, command, version, timeoutMs, metrics, isBatch, faults } = run;
  if (isBatch) await copyFile(folder.resultsFile, path.join(folder.workspaces, 'results.jsonl'));
  await writeArchive(folder.archiveFile, folder.workspaces, [{ name: 'metrics.json', text: metrics }], {
    run_id: run.runId,
    started_at: run.startedAt.toISOString(),
    command,
    environment: environmentOf(version),
    git_revision: run.revision,
    adapter: adapter.name,
    engine: engine.name,
    seeds: seedsOf(team),
    ...(faults === undefined ? {} : { faults }),
    task_timeout_ms: timeoutMs,
    team,
  });
}

/** Writes what the hub recorded, joined with what the agents report, as a file; all but the payloads stays in memory. */
export async function writeRecording(
  record: RunRecord,
  { workspaces }: Pick<RunFolder, 'workspaces'>,
  {
    runId,
    team,
    adapter,
    engine,
    tasks,
  }: Pick<FinishedRun, 'runId' | 'team' | 'adapter' | 'engine'> & { readonly tasks: TaskLog },
): Promise<{ timeline: Timeline; recording: RunMetrics['recording'] }> {
  const header = {
    run_id: runId,
    team: team.name,
    final: team.final,
    routing: team.routing,
    adapter: adapter.name,
    engine: engine.name,
    agents: team.agents.map(({ id, tool }) => ({ id, tool })),
  };
  const { traces, missing } = await record.write(path.join(workspaces, RECORDING_FILE), {
    header: () => header,
    payloadOf: (taskId) => tasks.payloadOf(taskId),
    work: await reportedWork(
      workspaces,
      team.agents.map(({ id }) => id),
      runId,
    ),
  });
  await record.remove();
  const packets = traces.filter(({ cause }) => cause !== null).length;
  return { timeline: new Timeline(traces), recording: { packets, missing } };
}

/** What decides anything at random: only a model's sampling does. */
function seedsOf(team: Team): Record<string, unknown> {
  const seeds = team.agents.map((agent) => [agent.id, engineOf(team, agent).options?.seed ?? null]);
  return Object.fromEntries(seeds);
}
