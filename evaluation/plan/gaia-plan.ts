import { existsSync } from 'node:fs';
import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { Team } from '@gaia-mesh/core/contracts/team.ts';
import { resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';
import { checkStoreUse } from '../batch/batch-store.ts';
import type { BatchHead } from '../batch/journal/batch-head.ts';
import { type BatchLimits, type LimitOptions, toBatchLimits } from '../batch/limits.ts';
import type { Question } from '../questions/question.ts';
import { readQuestionFile } from '../questions/question-rows.ts';
import type { Questions } from '../questions/read-questions.ts';
import { ScoringApi } from '../questions/scoring-api.ts';
import { readWtq } from '../questions/wtq-questions.ts';
import { BASELINE } from '../results/baseline.ts';
import { checkTeamModels } from '../teams/check-models.ts';
import { checkReachable } from '../teams/check-reachable.ts';
import { loadTeam } from '../teams/load-team.ts';
import type { Fingerprint } from './batch-setup.ts';
import {
  describeExposure,
  findFilesFolder,
  type GaiaPaths,
  type PlaceOptions,
  resolveGaiaPaths,
} from './gaia-places.ts';
import { withReplies } from './replies-file.ts';
import {
  applyTeamOptions,
  fingerprintBatch,
  hasStore,
  isUsersOwn,
  type PlannedTeam,
  planTeam,
  type TeamOptions,
} from './team-options.ts';

export interface GaiaOptions extends TeamOptions, LimitOptions, PlaceOptions {
  /** Names of teams; `all` alone means all that ship. */
  readonly team: readonly string[];
  /** Format of the question file: GAIA's, or that of WikiTableQuestions, whose tables are in a separate file. */
  readonly format?: 'gaia' | 'wtq';
  readonly tables?: string;
  readonly api?: string;
  readonly random?: boolean;
  readonly limit?: number;
  readonly username?: string;
  readonly agentCode?: string;
  readonly resume?: boolean;
  /** Makes a run with warnings fail. */
  readonly strict?: boolean;
  readonly repeat: number;
  /** The comparisons of teams that are judged together. */
  readonly pairs?: BatchHead['pairs'];
  readonly portBase?: number | 'auto';
  /** False with `--no-cache`. */
  readonly cache: boolean;
  readonly cacheFile?: string;
  readonly json?: boolean;
  /** Writes the figures into `docs/results/gaia.md`. */
  readonly write?: boolean;
}

/** The plan of a `gaia` with all options resolved and checked. Nothing has been started or written yet. */
export interface GaiaPlan {
  readonly teams: readonly PlannedTeam[];
  readonly questions: readonly Question[];
  readonly setup: Fingerprint;
  readonly pairs?: BatchHead['pairs'] | undefined;
  /** The user's folder with the attachments. */
  readonly folder: string | undefined;
  readonly api: ScoringApi | undefined;
  readonly limits: BatchLimits;
  readonly places: GaiaPaths;
  /** Warnings for the user that stop nothing. */
  readonly warnings: readonly string[];
}

/** The teams of `--team all`, in this order: the baseline first. */
const ALL_TEAMS = [BASELINE, 'pipeline', 'supervisor', 'react', 'overseer', 'panel'] as const;

/**
 * Resolves and checks the options of a `gaia`.
 *
 * @throws MeshError `usage`, `config`, and `io` for a scoring API that cannot be reached
 */
export async function planGaia(given: GaiaOptions, signal: AbortSignal): Promise<GaiaPlan> {
  const options = await withReplies(given);
  const warnings: string[] = [];
  const api = options.api === undefined ? undefined : new ScoringApi(options.api, signal);
  const { questions, sha256 } = await loadQuestions(options, api);
  const teams = await Promise.all(
    loadTeams(options, questions, warnings).map(async (team) => {
      if (options.team.some((name) => isUsersOwn(name, options))) await checkReachable(team);
      return planTeam(team, options);
    }),
  );
  checkStoreUse(teams, options);
  const asked: Parameters<typeof checkTeamModels>[1] = new Map();
  for (const { team } of teams) warnings.push(...(await checkTeamModels(team, asked, mayBeCached(options))));
  if (options.cacheFile !== undefined && teams.length > 1)
    throw new MeshError('usage', '--cache-file is for one team: answers of several would be mixed up in it');
  const exposed = teams.some(({ team }) => hasStore(team)) ? describeExposure(options) : undefined;
  if (exposed !== undefined) warnings.push(exposed);
  return {
    teams,
    questions,
    setup: fingerprintBatch(
      options.pairs === 'all' ? { questions: sha256, pairs: 'all' } : { questions: sha256 },
      options.repeat,
      teams,
    ),
    pairs: options.pairs,
    folder: options.format === 'wtq' ? findTablesFolder(options) : findFilesFolder(options),
    api,
    limits: toBatchLimits(options),
    places: resolveGaiaPaths(options),
    warnings: [...new Set(warnings)],
  };
}

/** Tells if answers may be in the cache, so that a batch can go on without the model. */
function mayBeCached(options: GaiaOptions): boolean {
  return options.cache && options.repeat === 1 && existsSync(resolveGaiaPaths(options).store);
}

async function loadQuestions(
  options: GaiaOptions,
  api: ScoringApi | undefined,
): Promise<{ questions: readonly Question[]; sha256: string }> {
  if (options.questions === undefined && api === undefined)
    throw new MeshError('usage', 'give --questions FILE.jsonl, or --api URL to get them from a scoring API');
  if (options.random === true) {
    if (api === undefined) throw new Error('--random was given without --api');
    const question = await api.randomQuestion();
    return { questions: [question], sha256: `random ${question.taskId}` };
  }
  if (options.format === 'wtq') return loadWtqQuestions(options);
  const all =
    options.questions === undefined
      ? await api?.questions()
      : await readQuestionFile(resolveUserPath(options.questions));
  if (all === undefined) throw new Error('there is a file or a server');
  return options.limit === undefined ? all : { ...all, questions: all.questions.slice(0, options.limit) };
}

function loadWtqQuestions(options: GaiaOptions): Questions {
  const { questions, tables, limit } = options;
  if (questions === undefined || tables === undefined)
    throw new MeshError(
      'usage',
      '--format wtq takes --questions FILE and --tables FILE (.jsonl or .jsonl.gz)',
    );
  return readWtq(resolveUserPath(questions), resolveUserPath(tables), {
    limit,
    folder: findTablesFolder(options),
  });
}

const findTablesFolder = (options: GaiaOptions) => path.join(resolveGaiaPaths(options).runs, 'tables');

function loadTeams(options: GaiaOptions, questions: readonly Question[], warnings: string[]): Team[] {
  const names = options.team.length === 1 && options.team[0] === 'all' ? ALL_TEAMS : options.team;
  const teams = names.map((name) => applyTeamOptions(loadTeam(name), options));
  const twice = teams.find((team, index) => teams.findIndex(({ name }) => name === team.name) !== index);
  if (twice !== undefined) throw new MeshError('usage', `--team: ${twice.name} is named twice`);
  return teams.filter((team) => {
    const unknown = questions.filter(({ truths }) => truths.length === 0).length;
    if (!team.agents.some(({ tool }) => tool === 'oversee') || unknown === 0) return true;
    const why = `team ${team.name} learns from true answers, and ${unknown} of ${questions.length} questions have none`;
    // The team does not run without true answers (C-12); the other teams can.
    if (teams.length === 1) throw new MeshError('usage', why);
    warnings.push(`${why}: it is left out`);
    return false;
  });
}
