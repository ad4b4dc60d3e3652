import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { RunMetrics } from '@gaia-mesh/core/run/metrics/metrics-schema.ts';
import { RunFolder } from '@gaia-mesh/core/run/run-folder.ts';
import type { AttemptKey } from '../attempts/attempt.ts';
import { buildBatchHead, type RunPlan } from '../plan/run-plan.ts';
import { type PlannedTeam, usesStore } from '../plan/team-options.ts';
import { placeFile } from '../questions/place-file.ts';
import { writeLines } from '../results/write-results.ts';
import { createTaskScorer } from '../scorers/scorer.ts';
import type { Store } from '../store/store.ts';
import { printError } from '../terminal/print.ts';
import { createStoreCache } from './answer-cache.ts';
import { type Batch, type BatchEnd, runBatch } from './batch.ts';
import type { BatchHead } from './journal/batch-head.ts';
import { Journal } from './journal/journal.ts';
import { Spending } from './limits.ts';
import { type MeshContext, MeshTeam } from './teams/mesh-team.ts';

export interface RunContext extends MeshContext, Pick<Batch, 'redact' | 'onEvent'> {}

export interface TeamEnd {
  readonly end: BatchEnd;
  /** Number of questions finished in this process, without those whose results were in the journal. */
  readonly asked: number;
  readonly wallSeconds: number;
  /** The mesh's own results; undefined if it was not started. */
  readonly mesh?: {
    readonly metrics: RunMetrics;
    readonly folder: RunFolder;
    /** The fault for which they are not whole. */
    readonly unsaved?: MeshError | undefined;
  };
}

type Unfinished = Exclude<BatchEnd, { kind: 'finished' }>;

/**
 * Runs a plan: asks the questions of one team after the other, each on a mesh of its own, and keeps their attempts in one journal.
 */
export class Runner {
  /** Reports a problem that stops nothing. */
  onNote: (text: string) => void = printError;
  readonly #plan: RunPlan;
  readonly #spending: Spending;
  #journal: Journal | undefined;
  #store: Store | undefined;

  constructor(plan: RunPlan) {
    this.#plan = plan;
    this.#spending = new Spending(plan.limits);
  }

  /** The head of the batch. */
  get head(): BatchHead {
    return buildBatchHead(this.#plan);
  }

  /**
   * The journal of the batch. It is opened at its first use, after the run's folder has been cleared of earlier results.
   *
   * @throws MeshError as {@link Journal.open}
   */
  get journal(): Journal {
    this.#journal ??= Journal.open(this.#plan.paths, this.head, this.#plan.resumes);
    return this.#journal;
  }

  /**
   * Opens the store if a team or one of its agents uses it, so that a broken store ends the run and no question is blamed. Call
   * this before the journal is opened, so that a broken store does not move an earlier batch aside.
   *
   * @returns the store if answers of earlier runs may be taken from it
   * @throws MeshError `store`
   */
  async openStore(): Promise<Store | undefined> {
    const { teams, paths } = this.#plan;
    if (!teams.some(usesStore)) return undefined;
    const { openStore } = await import('../store/open-store.ts');
    this.#store = await openStore(paths.store, { warn: (text) => this.onNote(text) });
    return teams.some(({ usesCache }) => usesCache) ? this.#store : undefined;
  }

  /** Runs the teams one after the other. The result holds every team up to the one at which the run ended. */
  async run(context: RunContext): Promise<{ teams: ReadonlyMap<string, TeamEnd>; end: BatchEnd }> {
    const teams = new Map<string, TeamEnd>();
    let unfinished: Unfinished | undefined;
    let isStopped = false;
    for (const planned of this.#plan.teams) {
      const { name } = planned.team;
      const ended = await this.runTeam(planned, context);
      teams.set(name, ended);
      const { end } = ended;
      if (end.kind !== 'finished') {
        // A model may fail at one team's requests and serve the others; after failures of two teams in a row it counts as
        // gone.
        if (isStopped || !isOfTeam(end)) return { teams, end: unfinished ?? end };
        if (planned !== this.#plan.teams.at(-1)) this.onNote(`team ${name} is skipped: ${end.reason}`);
        unfinished ??= end;
      }
      isStopped = end.kind !== 'finished';
    }
    return { teams, end: unfinished ?? { kind: 'finished' } };
  }

  /** Runs questions through one team. No agent is started if all of them are finished. */
  async runTeam(
    planned: PlannedTeam,
    context: RunContext,
    { questions, repeat }: Pick<RunPlan, 'questions' | 'repeat'> = this.#plan,
  ): Promise<TeamEnd> {
    const { team } = planned;
    const keys = Array.from({ length: repeat }, (_, i) =>
      questions.map(({ taskId }) => ({ task_id: taskId, team: team.name, cycle: i + 1 })),
    ).flat();
    if (this.#journal !== undefined && keys.every((key) => this.#journal?.has(key))) {
      for (const key of keys) {
        const attempt = this.#journal.read(key);
        if (attempt !== undefined) context.onEvent({ kind: 'kept', attempt });
      }
      return { end: { kind: 'finished' }, asked: 0, wallSeconds: 0 };
    }
    const part = { ...this.#plan, questions, repeat };
    const mesh = await this.#startMesh(planned, part, context);
    if (!(mesh instanceof MeshTeam)) return { end: mesh, asked: 0, wallSeconds: 0 };
    const startMs = performance.now();
    const asked: AttemptKey[] = [];
    let end: BatchEnd;
    try {
      end = await this.#askAll(planned, part, mesh, asked, context);
      if (part.isBatch && part.paths.journal !== mesh.folder.resultsFile)
        writeLines(mesh.folder.resultsFile, this.#formatAttempts(asked));
    } catch (error) {
      // Close the mesh after an error too, so that no process and no port is left behind.
      await mesh.close();
      throw error;
    }
    const wallSeconds = (performance.now() - startMs) / 1000;
    const metrics = await mesh.close();
    const { folder, unsaved } = mesh;
    return { end, asked: asked.length, wallSeconds, mesh: { metrics, folder, unsaved } };
  }

  async close(): Promise<void> {
    this.#journal?.close();
    await this.#store?.close();
  }

  async #askAll(
    { team, fingerprint, concurrency, usesCache, faults }: PlannedTeam,
    { questions, repeat, isBatch, limits, paths, folder, api }: RunPlan,
    mesh: MeshTeam,
    asked: AttemptKey[],
    { redact, signal, onEvent }: RunContext,
  ): Promise<BatchEnd> {
    if (!isBatch) {
      for (const question of questions) await mesh.ask(question, 1, signal);
      return { kind: 'finished' };
    }
    return runBatch({
      team: team.name,
      questions,
      repeat,
      limits,
      spending: this.#spending,
      concurrency,
      askTeam: mesh.ask,
      cache: usesCache && this.#store ? createStoreCache(this.#store, team.name, fingerprint) : undefined,
      journal: this.journal,
      toleratesFailures: faults !== undefined,
      placeFile: async (question, cycle) =>
        paths.files === undefined ? question : placeFile(question, cycle, { root: paths.files, folder, api }),
      score: createTaskScorer(team.scorer),
      redact,
      signal,
      onEvent: (event) => {
        if (event.kind === 'finished') {
          const { task_id, cycle, cached } = event.attempt;
          asked.push({ task_id, team: team.name, cycle });
          if (cached) mesh.answered(event.attempt);
        }
        onEvent(event);
      },
    });
  }

  *#formatAttempts(keys: readonly AttemptKey[]): Generator<string> {
    for (const key of keys) yield JSON.stringify(this.journal.read(key));
  }

  /**
   * Starts the team on its mesh, or returns the reason why it cannot start: the finished results of other teams are still worth
   * writing.
   */
  async #startMesh(planned: PlannedTeam, plan: RunPlan, context: RunContext): Promise<MeshTeam | Unfinished> {
    // A journal that is the mesh's own results file is continued; the mesh must not move it aside with its other results.
    const resumes = plan.resumes && plan.paths.journal === RunFolder.at(planned.out).resultsFile;
    try {
      return await MeshTeam.start(planned, { ...plan, resumes }, context);
    } catch (error) {
      if (context.signal.aborted) return { kind: 'interrupted', reason: 'interrupted' };
      if (!(error instanceof MeshError)) throw error;
      const reason = `team ${planned.team.name} did not start: ${error.message}`;
      return { kind: 'stopped', reason, error };
    }
  }
}

/** Tells whether another team may do better: faults of files and the store, and an interruption, affect all teams alike. */
function isOfTeam(end: Unfinished): boolean {
  return end.kind === 'stopped' && (end.error.code === 'engine' || end.error.code === 'agent');
}
