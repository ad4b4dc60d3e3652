import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { RunWarning } from '@gaia-mesh/core/contracts/warning.ts';
import type { RunObserver } from '@gaia-mesh/core/run/run-options.ts';
import type { RunPlan } from '../../plan/run-plan.ts';
import type { PlannedTeam } from '../../plan/team-options.ts';
import { placeFile } from '../../questions/place-file.ts';
import { createTaskScorer } from '../../scorers/scorer.ts';
import { createAlarms } from '../../terminal/progress.ts';
import { toOneLine } from '../../terminal/table.ts';
import { type Batch, type BatchEnd, runBatch } from '../batch.ts';
import { MeshTeam } from './mesh-team.ts';

/** Maximum characters of an alarm in a list of notes. */
const MAX_ALARM_CHARACTERS = 300;

/** Settings shared by the teams of a batch. */
export type SharedBatch = Pick<Batch, 'journal' | 'redact' | 'onEvent' | 'signal'> & {
  /** Adds the watchers of the batch to the observer of a run. */
  readonly watch: (observer: RunObserver) => RunObserver;
  /** Reports a problem in the mesh. */
  readonly note: (text: string) => void;
};

export interface TeamEnd {
  readonly end: BatchEnd;
  /** Questions asked in this process; results from the journal took no time. */
  readonly asked: number;
  readonly wallSeconds: number;
  /** The losses of servers and agents outside of the mesh. */
  readonly warnings: readonly RunWarning[];
  /** The archive of the mesh's run, if there was one. */
  readonly archive?: string;
}

/** Runs a plan's questions through one team. No agent is started if all of them are finished. */
export async function runTeam(
  plan: RunPlan,
  planned: PlannedTeam,
  shared: SharedBatch,
  cache: Batch['cache'],
): Promise<TeamEnd> {
  const { questions, limits, repeat, paths } = plan;
  const { team, concurrency } = planned;
  const { journal } = shared;
  const before = journal.size;
  const keys = Array.from({ length: repeat }, (_, i) =>
    questions.map(({ taskId }) => ({ task_id: taskId, team: team.name, cycle: i + 1 })),
  ).flat();
  if (keys.every((key) => journal.has(key))) {
    for (const key of keys) shared.onEvent({ kind: 'kept', key });
    return { end: { kind: 'finished' }, ...NOTHING_ASKED };
  }
  const mesh = await startMesh(plan, planned, shared);
  if (!(mesh instanceof MeshTeam)) return { end: mesh, ...NOTHING_ASKED };
  const startMs = performance.now();
  const run = async () => {
    const end = await runBatch({
      ...shared,
      repeat,
      team: team.name,
      questions,
      askTeam: mesh.ask,
      concurrency,
      limits,
      toleratesFailures: planned.faults !== undefined,
      cache,
      placeFile: async (question, cycle) =>
        paths.files === undefined
          ? question
          : placeFile(question, cycle, { root: paths.files, folder: plan.folder, api: plan.api }),
      score: createTaskScorer(team.scorer),
    });
    return { end, asked: journal.size - before, wallSeconds: (performance.now() - startMs) / 1000 };
  };
  let ended: Awaited<ReturnType<typeof run>>;
  try {
    ended = await run();
  } catch (error) {
    // No process and no port stays behind, whatever happened.
    await mesh.close();
    throw error;
  }
  const { warnings } = await mesh.close();
  return { ...ended, warnings, archive: mesh.folder.archiveFile };
}

const NOTHING_ASKED = { asked: 0, wallSeconds: 0, warnings: [] };

/**
 * Starts the team on its mesh, or returns the reason why it cannot start: the finished results of other teams are still worth
 * writing.
 */
async function startMesh(
  plan: RunPlan,
  planned: PlannedTeam,
  shared: SharedBatch,
): Promise<MeshTeam | BatchEnd> {
  const { questions, limits, repeat, paths, portBase = 'auto' } = plan;
  const { team, adapter, faults, out } = planned;
  const { seconds, tokens } = limits.question;
  const { signal } = shared;
  try {
    return await MeshTeam.start({
      team,
      out,
      adapter,
      places: paths,
      isBatch: true,
      faults,
      portBase,
      questions,
      repeat,
      timeoutMs: seconds === undefined ? undefined : seconds * 1000,
      maxTokens: tokens,
      observer: shared.watch(
        createAlarms({ say: (text) => shared.note(toOneLine(text, MAX_ALARM_CHARACTERS)) }),
      ),
      signal,
    });
  } catch (error) {
    if (signal.aborted) return { kind: 'interrupted', reason: 'interrupted' };
    if (!(error instanceof MeshError)) throw error;
    return { kind: 'stopped', reason: `team ${team.name} did not start: ${error.message}`, error };
  }
}
