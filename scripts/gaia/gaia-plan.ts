import { loadTeam } from '../../config/load-team.ts';
import { userPath } from '../../config/user-paths.ts';
import { MeshError } from '../../core/errors.ts';
import type { Team } from '../../core/team.ts';
import { toolNeeds } from '../../tools/registry.ts';
import type { Setup } from '../batch-setup.ts';
import { listOf } from '../option-values.ts';
import { BASELINE } from './baseline.ts';
import { exposedBy, folderOf, type GaiaPlaces, type PlaceOptions, placesOf } from './gaia-places.ts';
import type { BatchLimits } from './limits.ts';
import type { Question } from './question.ts';
import { readQuestions } from './read-questions.ts';
import { ScoringApi } from './scoring-api.ts';
import { setupOf, type TeamOptions, type TeamSetup, teamWith } from './team-setup.ts';

export interface GaiaOptions extends TeamOptions, PlaceOptions {
  readonly team: string;
  readonly api?: string;
  readonly random?: boolean;
  readonly limit?: number;
  readonly username?: string;
  readonly agentCode?: string;
  readonly resume?: boolean;
  readonly concurrency?: number;
  readonly repeat: number;
  readonly portBase?: number | 'auto';
  /** `--no-cache` makes it false. */
  readonly cache: boolean;
  readonly cacheFile?: string;
  readonly maxTokens?: number;
  readonly maxCost?: number;
  readonly maxTime?: number;
  readonly questionTokens?: number;
  readonly questionCost?: number;
  readonly questionTime?: number;
  readonly json?: boolean;
  /** Put the figures into `docs/gaia-results.md`. */
  readonly write?: boolean;
}

/** One team of a plan. */
export interface PlannedTeam {
  readonly team: Team;
  readonly setup: TeamSetup;
  readonly concurrency: number;
}

/** What a `gaia` will do, with everything looked up and checked: nothing has been started or written yet. */
export interface GaiaPlan {
  readonly teams: readonly PlannedTeam[];
  readonly questions: readonly Question[];
  readonly setup: Setup;
  /** The user's folder with the attachments. */
  readonly folder: string | undefined;
  readonly api: ScoringApi | undefined;
  readonly limits: BatchLimits;
  readonly places: GaiaPlaces;
  /** Things that the user should know and that stop nothing. */
  readonly warnings: readonly string[];
}

/** `--team all`, in this order: the baseline first. */
const ALL_TEAMS = [BASELINE, 'pipeline', 'supervisor', 'react', 'overseer', 'panel'] as const;

/** Questions on their way at once. What is learned from one is there for the next only if they come one after the other (OV-15, C-14). */
const CONCURRENCY = 4;
const ONE_AT_A_TIME: readonly string[] = ['oversee', 'moderate'];

/** @throws MeshError `usage`, `config`, and `io` for a scoring API that cannot be asked */
export async function gaiaPlan(options: GaiaOptions, signal: AbortSignal): Promise<GaiaPlan> {
  const warnings: string[] = [];
  const api = options.api === undefined ? undefined : new ScoringApi(options.api, signal);
  const { questions, sha256 } = await questionsOf(options, api);
  const teams = teamsOf(options, questions, warnings);
  if (options.cacheFile !== undefined && teams.length > 1)
    throw new MeshError('usage', '--cache-file is for one team: answers of several would be mixed up in it');
  const exposed = teams.some(({ team }) => keepsAttempts(team)) ? exposedBy(options) : undefined;
  if (exposed !== undefined) warnings.push(exposed);
  const setup: Record<string, string> = { questions: sha256, repeat: String(options.repeat) };
  for (const { team, setup: own } of teams) {
    setup[`team ${team.name}`] = `${own.model}, ${team.adapter}, prompts ${own.promptVersion}`;
  }
  return {
    teams,
    questions,
    setup,
    folder: folderOf(options),
    api,
    limits: {
      run: { tokens: options.maxTokens, costUsd: options.maxCost, seconds: options.maxTime },
      question: {
        tokens: options.questionTokens,
        costUsd: options.questionCost,
        seconds: options.questionTime,
      },
    },
    places: placesOf(options),
    warnings,
  };
}

async function questionsOf(
  options: GaiaOptions,
  api: ScoringApi | undefined,
): Promise<{ questions: readonly Question[]; sha256: string }> {
  if (options.questions === undefined && api === undefined)
    throw new MeshError('usage', 'give --questions FILE.jsonl, or --api URL to get them from a scoring API');
  if (options.random === true) {
    if (api === undefined) throw new MeshError('usage', '--random goes with --api');
    const question = await api.randomQuestion();
    return { questions: [question], sha256: `random ${question.taskId}` };
  }
  const all =
    options.questions === undefined ? await api?.questions() : readQuestions(userPath(options.questions));
  if (all === undefined) throw new Error('there is a file or a server');
  return options.limit === undefined ? all : { ...all, questions: all.questions.slice(0, options.limit) };
}

function teamsOf(options: GaiaOptions, questions: readonly Question[], warnings: string[]): PlannedTeam[] {
  const names = options.team === 'all' ? ALL_TEAMS : listOf(options.team);
  const teams = names.map((name) => teamWith(loadTeam(name, userPath), options));
  const twice = teams.find((team, index) => teams.findIndex(({ name }) => name === team.name) !== index);
  if (twice !== undefined) throw new MeshError('usage', `--team: ${twice.name} is there twice`);
  return teams
    .filter((team) => {
      const unknown = questions.filter(({ truths }) => truths.length === 0).length;
      if (!team.agents.some(({ tool }) => tool === 'oversee') || unknown === 0) return true;
      const why = `team ${team.name} learns from true answers, and ${unknown} of ${questions.length} questions have none`;
      // It does not run without (C-12); of several teams the others can.
      if (teams.length === 1) throw new MeshError('usage', why);
      warnings.push(`${why}: it is left out`);
      return false;
    })
    .map((team) => {
      const isSequential = team.agents.some(({ tool }) => ONE_AT_A_TIME.includes(tool));
      return {
        team,
        setup: setupOf(team),
        concurrency: options.concurrency ?? (isSequential ? 1 : CONCURRENCY),
      };
    });
}

/** Whether an agent of the team works with the store itself. */
export function keepsAttempts(team: Team): boolean {
  return team.agents.some(({ tool }) => toolNeeds(tool).store === true);
}
