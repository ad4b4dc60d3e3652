import path from 'node:path';
import { resolveEngine } from '@gaia-mesh/core/contracts/team.ts';
import { RunFolder } from '@gaia-mesh/core/run/run-folder.ts';
import { resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';
import * as z from 'zod';
import { readChosenTasks } from '../questions/task-source.ts';
import { findScorer } from '../scorers/scorer.ts';
import { chooseResultFolder } from './batch-places.ts';
import { commaList, defineTable, flag, option, output, text } from './option-table.ts';
import { batchShape, repliesNeeds, store, teamNeeds, teamShape, watchNeeds, watchShape } from './options.ts';
import { EMBEDDED, planRun, type RunPlan } from './run-plan.ts';
import { loadTeams } from './team-options.ts';

const BATCH = ['tasks', 'repeat>1'] as const;

/** All options of `bench`. */
export const benchTable = defineTable({
  options: z.object({
    team: option('<name|file>', 'choose the team of agents', text.default('pipeline')),
    task: option('<name|folder>', 'run a task that ships, or one from a folder', text.optional()),
    document: option(
      '<file>',
      'ask about your document (text, PDF, DOCX, PPTX, HTML, EPUB)',
      text.optional(),
    ),
    question: option('<text>', 'ask this question about the document', text.optional()),
    answer: option('<text>', 'score against this answer', text.optional()),
    tasks: option('<file>', 'run many tasks from JSON lines, CSV or Parquet', text.optional()),
    scorer: option('<name>', 'score with this scorer as well', text.optional()),
    out: option(
      '<dir>',
      'write results to this folder (default: the project root)',
      output.folder.optional(),
    ),
    // `gaia` lacks this option: it runs several teams, whose agents have the same ids.
    external: option('<ids>', 'use agents that you started yourself, e.g. 1,2', commaList.default([])),
    ...teamShape,
    ...batchShape,
    ...watchShape,
    cache: flag('reuse answers of earlier runs, and save new ones'),
    store,
    json: flag('print metrics as JSON'),
    quiet: flag("print the answer, or a batch's score, only"),
  }),
  common: [
    ...(['team', 'task', 'document', 'question', 'answer', 'tasks', 'adapter', 'engine'] as const),
    ...(['model', 'baseUrl', 'out', 'timeout', 'watch', 'json', 'quiet'] as const),
  ],
  needs: [
    ...teamNeeds,
    ...repliesNeeds,
    ...watchNeeds,
    { options: ['tasks', 'document'], excludes: ['task'], why: 'choose one of them' },
    { options: ['tasks'], excludes: ['document'], why: 'choose one of them' },
    { options: ['answer'], needs: ['document'], why: 'a task has its own true answer' },
    { options: ['document'], needs: ['question'], why: 'ask something about it' },
    { options: ['question', 'answer'], excludes: ['tasks'], why: 'a task file has its own' },
    { options: ['limit'], needs: ['tasks'], why: 'it counts the tasks of a file' },
    {
      options: ['resume', 'concurrency', 'maxTokens', 'maxCost', 'maxTime', 'questionCost', 'questionTime'],
      needs: BATCH,
      why: 'a task that is asked once is no batch; limit it with --timeout and --question-tokens',
    },
    { options: ['cache'], needs: ['tasks'], why: 'it saves the answers of a batch' },
    { options: ['cache'], excludes: ['repeat>1'], why: 'every repetition asks the team again' },
  ],
});

export type BenchOptions = z.output<typeof benchTable.options>;

/** The plan of a `bench`, which has one team. */
export interface BenchPlan extends RunPlan {
  /** Offsets of the pages in the user's document, if it has pages. */
  readonly pageStarts?: readonly number[] | undefined;
}

/**
 * Resolves and checks the options of a `bench`.
 *
 * @throws MeshError `usage` or `config`
 */
export async function planBench(options: BenchOptions): Promise<BenchPlan> {
  const external = new Set(options.external);
  const teams = await loadTeams([options.team], options, external);
  const [team] = teams;
  if (team === undefined) throw new Error('a bench has one team');
  findScorer(team.scorer);
  const { tasks, sha256, pageStarts, notes, isForeign } = await readChosenTasks(options);
  const isRead = team.agents.some((agent) => resolveEngine(team, agent).engine === EMBEDDED);
  const warnings =
    isRead && isForeign === true
      ? [
          ...notes,
          `the embedded engine knows English only, and this document is in another language: expect a poor answer, or use a model (--engine)`,
        ]
      : notes;
  const out = chooseResultFolder(options.out);
  const { resultsFile, headFile } = RunFolder.at(out);
  const plan = await planRun(
    options,
    {
      teams,
      questions: tasks,
      portBase: options.portBase,
      isBatch: options.tasks !== undefined || options.repeat > 1,
      external,
      fingerprint: { tasks: `sha256:${sha256}`, scorer: team.scorer },
      source: options.tasks === undefined ? undefined : resolveUserPath(options.tasks),
      warnings,
    },
    {
      answers: resultsFile,
      head: headFile,
      journal: resultsFile,
      store: options.store ?? path.join(out, 'store', 'attempts.sqlite'),
    },
    () => out,
  );
  return { ...plan, pageStarts };
}
