import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { Team } from '@gaia-mesh/core/contracts/team.ts';
import { packageVersion } from '@gaia-mesh/core/system/package-root.ts';
import { resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';
import type { BatchHead } from '../batch/journal/batch-head.ts';
import type { Question } from '../questions/question.ts';
import { readQuestionFile } from '../questions/question-rows.ts';
import type { Questions } from '../questions/read-questions.ts';
import { ScoringApi } from '../questions/scoring-api.ts';
import { readWtq } from '../questions/wtq-questions.ts';
import { BASELINE } from '../results/baseline.ts';
import {
  describeExposure,
  findFilesFolder,
  type GaiaPaths,
  type PlaceOptions,
  resolveGaiaPaths,
} from './batch-places.ts';
import { planRun, type RunOptions, type RunPlan } from './run-plan.ts';
import { hasStore, loadTeams } from './team-options.ts';

export interface GaiaOptions extends RunOptions, PlaceOptions {
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
  /** Makes a run with warnings fail. */
  readonly strict?: boolean;
  /** The comparisons of teams that are judged together. */
  readonly pairs?: BatchHead['pairs'];
  /** False with `--no-cache`. */
  readonly cache: boolean;
  readonly cacheFile?: string;
  readonly json?: boolean;
  /** Writes the figures into `docs/results/gaia.md`. */
  readonly write?: boolean;
}

/** The plan of a `gaia`, which may have several teams. */
export interface GaiaPlan extends RunPlan {
  readonly paths: GaiaPaths;
  readonly pairs?: BatchHead['pairs'] | undefined;
  /** The user's file of questions. */
  readonly source: string | undefined;
  /** The plain file of cached answers. */
  readonly cacheFile: string | undefined;
  /** The name under which answers are submitted, and the agents' code; undefined if nothing is submitted. */
  readonly submitter: { readonly username: string; readonly agentCode: string } | undefined;
}

/** The teams of `--team all`, in this order: the baseline first. */
const ALL_TEAMS = [BASELINE, 'pipeline', 'supervisor', 'react', 'overseer', 'panel'] as const;

/**
 * Resolves and checks the options of a `gaia`.
 *
 * @throws MeshError `usage`, `config`, and `io` for a scoring API that cannot be reached
 */
export async function planGaia(options: GaiaOptions, signal: AbortSignal): Promise<GaiaPlan> {
  const warnings: string[] = [];
  const names = options.team.length === 1 && options.team[0] === 'all' ? ALL_TEAMS : options.team;
  const loaded = await loadTeams(names, options);
  const api = options.api === undefined ? undefined : new ScoringApi(options.api, signal);
  const { questions, sha256 } = await loadQuestions(options, api);
  const teams = leaveOutLearners(loaded, questions, warnings);
  if (options.cacheFile !== undefined && teams.length > 1)
    throw new MeshError('usage', '--cache-file is for one team: answers of several would be mixed up in it');
  const exposed = teams.some(hasStore) ? describeExposure(options) : undefined;
  if (exposed !== undefined) warnings.push(exposed);
  const { pairs, cacheFile } = options;
  const paths = resolveGaiaPaths(options);
  const plan = await planRun(
    options,
    {
      teams,
      questions,
      isBatch: true,
      external: new Set(),
      folder: options.format === 'wtq' ? findTablesFolder(options) : findFilesFolder(options),
      api,
      fingerprint: pairs === 'all' ? { questions: sha256, pairs } : { questions: sha256 },
      warnings,
    },
    paths,
    (team) => path.join(paths.runs, team),
  );
  const isSubmitted =
    options.submission !== undefined || (api !== undefined && options.questions === undefined);
  return {
    ...plan,
    pairs,
    source: options.questions === undefined ? undefined : resolveUserPath(options.questions),
    cacheFile: cacheFile === undefined ? undefined : resolveUserPath(cacheFile),
    submitter: isSubmitted
      ? {
          username: options.username ?? process.env.HF_USERNAME ?? 'gaia-mesh',
          agentCode: options.agentCode ?? `gaia-mesh ${packageVersion}`,
        }
      : undefined,
  };
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

/** Leaves out teams that learn from true answers if questions have none; other teams can run (C-12). */
function leaveOutLearners(
  teams: readonly Team[],
  questions: readonly Question[],
  warnings: string[],
): readonly Team[] {
  const unknown = questions.filter(({ truths }) => truths.length === 0).length;
  if (unknown === 0) return teams;
  return teams.filter((team) => {
    if (!team.agents.some(({ tool }) => tool === 'oversee')) return true;
    const why = `team ${team.name} learns from true answers, and ${unknown} of ${questions.length} questions have none`;
    if (teams.length === 1) throw new MeshError('usage', why);
    warnings.push(`${why}: it is left out`);
    return false;
  });
}
