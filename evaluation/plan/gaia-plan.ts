import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { Team } from '@gaia-mesh/core/contracts/team.ts';
import { packageVersion } from '@gaia-mesh/core/system/package-root.ts';
import { resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';
import * as z from 'zod';
import type { Question } from '../questions/question.ts';
import { readQuestionFile } from '../questions/question-rows.ts';
import type { Questions } from '../questions/read-questions.ts';
import { ScoringApi } from '../questions/scoring-api.ts';
import { readWtq } from '../questions/wtq-questions.ts';
import { resolveStoreFile } from '../store/open-store.ts';
import { findFilesFolder, resolveGaiaPaths, shortenPath } from './batch-places.ts';
import { choice, commaList, defineTable, flag, noFlag, option, output, text, texts } from './option-table.ts';
import {
  batchShape,
  demandShape,
  repliesNeeds,
  store,
  teamNeeds,
  teamShape,
  watchNeeds,
  watchShape,
} from './options.ts';
import { planRun, type RunPlan } from './run-plan.ts';
import { hasStore, loadTeams } from './team-options.ts';

/** All options of `gaia`. */
export const gaiaTable = defineTable({
  options: z.object({
    team: option(
      '<names>',
      'choose teams, e.g. react,panel or all',
      commaList
        .refine((names) => names.length === 1 || !names.includes('all'), 'all has every team: name it alone.')
        .default(['supervisor']),
    ),
    pairs: option(
      '<which>',
      'compare teams with the baseline, or all pairs',
      choice(['baseline', 'all']).default('baseline'),
    ),
    ...demandShape,
    failIf: option('<condition...>', "exit with 1 if true, e.g. 'react.right < 1x single'", texts.optional()),
    questions: option('<file>', 'read questions from JSON lines, CSV or Parquet', text.optional()),
    format: option(
      '<name>',
      'read questions in the format of GAIA or WikiTableQuestions',
      choice(['gaia', 'wtq']).default('gaia'),
    ),
    tables: option('<file>', 'read the tables of --format wtq from this file', text.optional()),
    files: option(
      '<dir>',
      'read attached files from this folder (default: beside the questions)',
      text.optional(),
    ),
    api: option('<url>', 'fetch questions from a scoring API, and submit answers', text.optional()),
    out: option('<file>', 'write answers to this file (default: runs/gaia/answers.jsonl)', text.optional()),
    submission: option(
      '<file>',
      'save the submission for a scoring API to this file',
      output.file.optional(),
    ),
    username: option('<name>', 'submit under this name (default: HF_USERNAME)', text.optional()),
    agentCode: option('<url>', "link the agents' code in the submission", text.optional()),
    ...teamShape,
    ...batchShape,
    resume: option(
      '[name]',
      'continue an interrupted or queued run, keeping finished tasks',
      z.union([z.literal(true), text]).optional(),
    ),
    ...watchShape,
    store,
    queue: flag('let workers (gaia-mesh worker) answer by a queue'),
    wait: noFlag('print the name of the queued batch and end'),
    cancel: option('<name>', 'stop a queued batch for good', text.optional()),
    cache: noFlag('ask again even when an answer is cached'),
    cacheFile: option(
      '<file>',
      'read and write cached answers as a {question: answer} file',
      output.file.optional(),
    ),
    write: flag('write the results to docs/results (in a checkout)'),
    json: flag('print the summary as JSON'),
  }),
  common: [
    ...(['team', 'questions', 'files', 'engine', 'model', 'baseUrl', 'limit', 'repeat'] as const),
    ...(['concurrency', 'resume', 'maxTokens', 'maxCost', 'out', 'watch', 'json'] as const),
  ],
  needs: [
    ...teamNeeds,
    ...repliesNeeds,
    ...watchNeeds,
    {
      options: ['queue', 'cancel'],
      needs: ['store'],
      why: 'the queue is in a Postgres database, --store postgres://…',
    },
    { options: ['wait=false'], needs: ['queue'], why: 'other runs have nobody to wait for' },
    {
      options: ['concurrency', 'portBase', 'cacheFile', 'faults', 'restart', 'network', 'otlp', 'api'],
      excludes: ['queue'],
      why: 'workers answer the questions, each with options of its own (gaia-mesh worker --help)',
    },
    { options: ['queue'], excludes: ['resume', 'cancel'], why: 'the batch is queued already' },
    {
      options: ['out', 'watch'],
      excludes: ['wait=false'],
      why: 'they are for the command that waits, gaia --resume NAME',
    },
    { options: ['junit'], needs: ['failIf'], why: 'the report lists its conditions' },
    {
      options: ['failIf', 'summary', 'saveBaseline', 'baseline'],
      excludes: ['wait=false', 'cancel'],
      why: 'they are for the command that waits for the answers',
    },
    { options: ['tables'], needs: ['format=wtq'], why: 'other questions name their files' },
    {
      options: ['files', 'api'],
      excludes: ['format=wtq'],
      why: 'its tables are in the file of --tables',
    },
    {
      options: ['username', 'agentCode'],
      needs: ['submission', 'api'],
      why: 'nothing is submitted without one of them',
    },
    {
      options: ['username', 'agentCode'],
      excludes: ['questions'],
      unless: ['submission'],
      why: 'answers to questions of your own are submitted only with --submission',
    },
    {
      options: ['cacheFile'],
      excludes: ['cache=false', 'repeat>1'],
      why: 'no answer is read from the cache or written to it',
    },
  ],
});

export type GaiaOptions = z.output<typeof gaiaTable.options>;

/** The plan of a `gaia`, which may have several teams. */
export interface GaiaPlan extends RunPlan {
  readonly paths: ReturnType<typeof resolveGaiaPaths>;
  /** The plain file of cached answers. */
  readonly cacheFile: string | undefined;
  /** The name under which answers are submitted, and the agents' code; undefined if nothing is submitted. */
  readonly submitter: { readonly username: string; readonly agentCode: string } | undefined;
}

/** The teams of `--team all`, in this order: the baseline first. */
const ALL_TEAMS = ['single', 'pipeline', 'supervisor', 'react', 'overseer', 'panel'] as const;

/**
 * Resolves and checks the options of a `gaia`.
 *
 * @throws MeshError `usage`, `config`, and `io` for a scoring API that cannot be reached
 */
export async function planGaia(given: GaiaOptions, signal: AbortSignal): Promise<GaiaPlan> {
  const options = { ...given, resume: given.resume !== undefined };
  const warnings: string[] = [];
  const names = options.team[0] === 'all' ? ALL_TEAMS : options.team;
  const loaded = await loadTeams(names, options);
  const api = options.api === undefined ? undefined : new ScoringApi(options.api, signal);
  const { questions, sha256 } = await loadQuestions(options, api);
  const teams = leaveOutLearners(loaded, questions, warnings);
  if (options.cacheFile !== undefined && teams.length > 1)
    throw new MeshError('usage', '--cache-file is for one team: answers of several would be mixed up in it');
  if (options.pairs === 'all' && teams.length === 1)
    throw new MeshError('usage', '--pairs all has no effect with one team: name several with --team');
  const exposed = teams.some(hasStore) ? describeExposure(given) : undefined;
  if (exposed !== undefined) warnings.push(exposed);
  const { pairs, cacheFile } = options;
  const paths = resolveGaiaPaths(options);
  if (options.write && !options.resume && teams.some(hasStore) && existsSync(paths.store))
    throw new MeshError(
      'usage',
      `--write: teams have learned from earlier runs (${shortenPath(paths.store)}), so others could not repeat the page's figures: name a new file with --out`,
    );
  const plan = await planRun(
    options,
    {
      teams,
      questions,
      isBatch: true,
      portBase: options.portBase ?? 'auto',
      external: new Set(),
      folder: options.format === 'wtq' ? findTablesFolder(options) : findFilesFolder(options),
      api,
      pairs,
      source: options.questions === undefined ? undefined : resolveUserPath(options.questions),
      fingerprint: pairs === 'all' ? { questions: sha256, pairs } : { questions: sha256 },
      warnings,
    },
    paths,
    (team) => path.join(paths.runs, team),
  );
  return {
    ...plan,
    cacheFile: cacheFile === undefined ? undefined : resolveUserPath(cacheFile),
    submitter: findSubmitter(options, api !== undefined && options.questions === undefined),
  };
}

/** Warns about a store whose folder also holds other files, which the store's agent could read and write. */
function describeExposure({ store }: GaiaOptions): string | undefined {
  const file = store === undefined ? undefined : resolveStoreFile(store, resolveUserPath('.'));
  if (file === undefined || !existsSync(path.dirname(file))) return undefined;
  const others = readdirSync(path.dirname(file)).filter((name) => !name.startsWith(path.basename(file)));
  if (others.length === 0) return undefined;
  return `--store: the agent that keeps the store may read and write all that is in ${path.dirname(file)}: give it a folder of its own`;
}

/** Returns the name under which answers are submitted; undefined if they are not. */
export function findSubmitter(
  { submission, username, agentCode }: Pick<GaiaOptions, 'submission' | 'username' | 'agentCode'>,
  isOfServer = false,
): GaiaPlan['submitter'] {
  if (submission === undefined && !isOfServer) return undefined;
  return {
    username: username ?? process.env.HF_USERNAME ?? 'gaia-mesh',
    agentCode: agentCode ?? `gaia-mesh ${packageVersion}`,
  };
}

type QuestionOptions = Omit<GaiaOptions, 'resume'>;

async function loadQuestions(options: QuestionOptions, api: ScoringApi | undefined): Promise<Questions> {
  const { questions: file, format, limit } = options;
  if (format === 'wtq') return loadWtqQuestions(options);
  const all = file === undefined ? await api?.questions() : await readQuestionFile(resolveUserPath(file));
  if (all === undefined)
    throw new MeshError('usage', 'give --questions FILE.jsonl, or --api URL to get them from a scoring API');
  return limit === undefined ? all : { ...all, questions: all.questions.slice(0, limit) };
}

function loadWtqQuestions(options: QuestionOptions): Questions {
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

const findTablesFolder = (options: QuestionOptions) => path.join(resolveGaiaPaths(options).runs, 'tables');

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
