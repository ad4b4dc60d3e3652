import { existsSync } from 'node:fs';
import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { resolveEngine, type Team } from '@gaia-mesh/core/contracts/team.ts';
import { packageVersion } from '@gaia-mesh/core/system/package-root.ts';
import type { BatchHead } from '../batch/journal/batch-head.ts';
import type { Question } from '../questions/question.ts';
import type { ScoringApi } from '../questions/scoring-api.ts';
import { resolveStoreFile } from '../store/open-store.ts';
import { formatNetwork } from '../terminal/table.ts';
import { shortenPath } from './batch-places.ts';
import { drawSeed } from './fault-request.ts';
import { describeMaking } from './making.ts';
import type { LimitOptions, RunOptions } from './options.ts';
import { type PlannedTeam, planTeam, usesStore } from './team-options.ts';

/**
 * The plan of a run with all options resolved and checked: `bench` asks one team, `gaia` several. Nothing has been started or
 * written yet.
 */
export interface RunPlan {
  /** The teams, each of which is asked all questions. */
  readonly teams: readonly PlannedTeam[];
  readonly questions: readonly Question[];
  /** False for one question that is asked once, which has no journal. */
  readonly isBatch: boolean;
  readonly repeat: number;
  /** True to continue the batch in the journal. */
  readonly resumes: boolean;
  readonly limits: LimitOptions;
  /** Named values that must not change when the batch is resumed: questions, team, adapter, model, prompts, … */
  readonly fingerprint: Readonly<Record<string, string>>;
  readonly paths: {
    /** The file that the user reads: answers, or attempts. */
    readonly answers: string;
    /** The plan of a batch, for `--resume` and for reports. */
    readonly head: string;
    /** The attempts of a batch. */
    readonly journal: string;
    /** A file, or the URL of a server. */
    readonly store: string;
    /** The folder of all questions' files. */
    readonly files?: string;
    /** The file of branches of a recorded question, if the questions are branches. */
    readonly branches?: string | undefined;
  };
  /** The user's file of questions. */
  readonly source?: string | undefined;
  /** The comparisons of teams that are judged together; those with the baseline by default. */
  readonly pairs?: 'baseline' | 'all' | undefined;
  readonly portBase: number | 'auto' | undefined;
  /** Agents that the user starts. */
  readonly external: ReadonlySet<string>;
  /** The user's folder with the attachments. */
  readonly folder?: string | undefined;
  /** The server that the questions came from. */
  readonly api?: ScoringApi | undefined;
  /** Warnings for the user that stop nothing. */
  readonly warnings: readonly string[];
}

/** The parts of a run that its command chooses. */
interface RunParts
  extends Pick<
    RunPlan,
    'questions' | 'isBatch' | 'portBase' | 'external' | 'folder' | 'api' | 'source' | 'pairs'
  > {
  readonly teams: readonly Team[];
  /** The fingerprint of the questions. */
  readonly fingerprint: RunPlan['fingerprint'];
  readonly warnings: readonly string[];
}

/** The embedded engine. Runs that use no other one start faster, since they do not load the module that checks models. */
export const EMBEDDED = 'extractive';

/**
 * Plans a run of any command: resolves its teams, and asks their model servers what the models can do.
 *
 * @param outOf returns the folder for the results of a team's mesh
 * @throws MeshError `usage`, `config`, `engine`
 */
export async function planRun<Paths extends RunPlan['paths']>(
  options: RunOptions,
  { teams, fingerprint, warnings, ...parts }: RunParts,
  paths: Paths,
  outOf: (team: string) => string,
): Promise<RunPlan & { readonly paths: Paths }> {
  // Otherwise a run with a mistyped path would ask, and pay for, everything again.
  if (options.resume && !existsSync(paths.head))
    throw new MeshError('usage', `--resume: no batch to resume: ${paths.head} does not exist`);
  const drawn = options.faults === undefined || options.faultSeed !== undefined ? undefined : drawSeed();
  const planned = await Promise.all(
    teams.map((team) => planTeam(team, { ...options, ...drawn }, outOf(team.name), parts.external)),
  );
  const said =
    options.queue === true ? [] : await checkTeams(planned, options.store, mayHaveAnswers(paths.store));
  return {
    ...parts,
    teams: planned,
    repeat: options.repeat,
    resumes: options.resume,
    limits: options,
    fingerprint: fingerprintBatch(fingerprint, options.repeat, planned),
    paths,
    warnings: [...new Set([...warnings, ...said, ...(drawn === undefined ? [] : [drawn.said])])],
  };
}

/**
 * Checks that teams can work before anything starts: one of them must use the given store, and their models must be able to do
 * the work. It starts the model server of an engine that has one of its own.
 *
 * @param hasAnswers true if answers may come from the store, without the models
 * @returns a line for each model about how it will be used
 * @throws MeshError `usage`, `config`, `engine`
 */
export async function checkTeams(
  planned: readonly PlannedTeam[],
  store: string | undefined,
  hasAnswers: boolean,
): Promise<string[]> {
  checkStoreUse(planned, store);
  const hasModels = planned.some(({ team }) =>
    team.agents.some((agent) => resolveEngine(team, agent).engine !== EMBEDDED),
  );
  if (!hasModels) return [];
  const { checkTeamModels } = await import('../teams/check-models.ts');
  const asked: Parameters<typeof checkTeamModels>[1] = new Map();
  const said: string[] = [];
  for (const { team, usesCache } of planned)
    said.push(...(await checkTeamModels(team, asked, usesCache && hasAnswers)));
  return said;
}

/**
 * Refuses a store that no team would read from or write to.
 *
 * @throws MeshError `usage`
 */
function checkStoreUse(teams: readonly PlannedTeam[], store: string | undefined): void {
  if (store === undefined || teams.some(usesStore)) return;
  const names = teams.map(({ team }) => team.name).join(', ');
  throw new MeshError(
    'usage',
    `--store has no effect: nothing of team ${names} is kept in it. It is for teams that learn (overseer) and for cached answers ` +
      '(bench --tasks … --cache; gaia without --no-cache and --repeat)',
  );
}

/** Returns the fingerprint of a batch for its journal; a resumed batch must have the same. */
function fingerprintBatch(
  questions: RunPlan['fingerprint'],
  repeat: number,
  teams: readonly PlannedTeam[],
): RunPlan['fingerprint'] {
  const batch: Record<string, string> = { ...questions, repeat: String(repeat) };
  for (const { team, fingerprint, faults, network } of teams) {
    batch[`team ${team.name}`] =
      `${fingerprint.model}, ${team.adapter}, prompts ${fingerprint.promptVersion}`;
    if (faults !== undefined) batch.faults = faults.spec ?? 'restarts';
    if (network !== null) batch.network = formatNetwork(network);
  }
  return batch;
}

/** Tells if answers may be in the store, so that a run can go on without the model. */
function mayHaveAnswers(store: string): boolean {
  const file = resolveStoreFile(store);
  return file === undefined || existsSync(file);
}

/** The parts of a plan that its head describes. */
type HeadFacts = Pick<RunPlan, 'paths' | 'fingerprint' | 'repeat' | 'source' | 'pairs' | 'questions'> & {
  readonly teams: readonly Pick<RunPlan['teams'][number], 'team' | 'concurrency'>[];
};

export function buildBatchHead(facts: HeadFacts): BatchHead {
  const { paths, fingerprint: setup, repeat, source, pairs = 'baseline', teams, questions } = facts;
  return {
    schema_version: 2,
    gaia_mesh: packageVersion,
    ...describeMaking(),
    answers: path.basename(paths.answers),
    journal: path.basename(paths.journal),
    source: source === undefined ? null : shortenPath(source),
    repeat,
    pairs,
    setup: { ...setup },
    teams: teams.map(({ team, concurrency }) => ({
      name: team.name,
      description: team.description ?? '',
      engine: team.engine,
      model: team.model ?? null,
      adapter: team.adapter,
      routing: team.routing,
      agents: team.agents.length,
      concurrency,
    })),
    questions: questions.map(({ taskId, question, level, category, truths, fileName }) => ({
      task_id: taskId,
      question,
      level,
      category,
      truths: [...truths],
      file_name: fileName,
    })),
  };
}
