import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { packageFolder } from '../../config/package-root.ts';
import { userPath } from '../../config/user-paths.ts';
import { readTaskFile } from '../../core/tasks/task-source.ts';
import { docsPage, shownRevision } from '../docs-page.ts';
import { measureAnswers } from '../perf/answers.ts';
import { measureCodecs } from '../perf/codecs.ts';
import { planOf } from '../perf/relay/plan.ts';
import { relayPage } from '../perf/relay/relay-page.ts';
import { relayReport } from '../perf/relay/relay-report.ts';
import { relayTables } from '../perf/relay/relay-tables.ts';
import { runRounds } from '../perf/relay/run-rounds.ts';
import {
  answersTable,
  codecsTable,
  machine,
  resultsPage,
  speedTable,
  withResults,
} from '../perf/results-page.ts';
import { shippedQuestions } from '../perf/shipped-questions.ts';
import { measureStart } from '../perf/start.ts';
import { measureTasks } from '../perf/tasks.ts';

const START_ROUNDS = 11;
const TASK_ROUNDS = 5;
const TASKS = 500;
const CODEC_ROUNDS = 101;
const RELAY_ROUNDS = 5;

export interface PerfOptions {
  readonly json?: boolean;
  readonly write?: boolean;
  readonly questions?: string;
  /** The hub alone, against other hubs and brokers; false: without it; else with its quick plan. */
  readonly relay?: boolean;
  readonly rounds?: number;
  readonly quick?: boolean;
}

/**
 * Measures the default run, a batch, the codecs, how often the embedded engine is right, and the hub against others; prints the figures,
 * and with `--write` puts them into `docs/results.md` and `README.md`.
 */
export async function perf(options: PerfOptions): Promise<void> {
  if (options.relay === true) return onlyRelay(options);
  const page = options.write ? docsPage('results.md') : undefined;
  const file = options.questions === undefined ? undefined : userPath(options.questions);
  const questions = file === undefined ? shippedQuestions() : readTaskFile(file);
  console.error(`${START_ROUNDS} runs of npm run bench …`);
  const start = await measureStart(START_ROUNDS);
  console.error(`${TASK_ROUNDS} batches of ${TASKS} tasks …`);
  const batch = await measureTasks(TASK_ROUNDS, TASKS, questions);
  console.error(`${CODEC_ROUNDS} rounds of the codecs …`);
  const codecs = await measureCodecs(CODEC_ROUNDS);
  console.error(`questions of ${file ?? 'the shipped documents'} …`);
  const answers = await measureAnswers(questions);
  const relay = options.relay === false ? undefined : await measureRelay({ ...options, quick: true });
  const speed = speedTable(start, batch);
  if (options.json) {
    const hub = relay === undefined ? {} : { relay: relayReport(relay) };
    process.stdout.write(
      `${JSON.stringify({ machine: machine(), start, batch, codecs, answers, ...hub }, null, 2)}\n`,
    );
  } else {
    const hub = relay === undefined ? [] : [relayTables(relay)];
    console.log([speed, codecsTable(codecs), answersTable(answers), ...hub].join('\n\n'));
  }
  if (page === undefined) return;
  const tables = { speed, codecs: codecsTable(codecs), answers: answersTable(answers) };
  await write(page, tables, file);
}

function measureRelay({ rounds = RELAY_ROUNDS, quick = false }: PerfOptions): ReturnType<typeof runRounds> {
  return runRounds(planOf(quick), rounds, (text) => console.error(text));
}

async function onlyRelay(options: PerfOptions): Promise<void> {
  const page = options.write ? docsPage('relay.md') : undefined;
  const results = await measureRelay(options);
  if (options.json) {
    process.stdout.write(`${JSON.stringify(relayReport(results), null, 2)}\n`);
  } else {
    console.log(relayTables(results));
  }
  if (page === undefined) return;
  writeFileSync(page, relayPage(results, await shownRevision(), options.quick === true));
  console.error(`written: ${page}`);
}

async function write(
  page: string,
  tables: { speed: string; codecs: string; answers: string },
  file: string | undefined,
): Promise<void> {
  const questions = file === undefined ? undefined : path.basename(file);
  writeFileSync(page, resultsPage({ ...tables, questions, revision: await shownRevision() }));
  const readme = path.join(packageFolder, 'README.md');
  writeFileSync(readme, withResults(readFileSync(readme, 'utf8'), tables.speed));
  console.error(`written: ${page}, ${readme}`);
}
