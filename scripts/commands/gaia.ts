import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { RunWarning } from '@gaia-mesh/core/contracts/warning.ts';
import { writeWhole } from '@gaia-mesh/core/system/files/whole-file.ts';
import type { Attempt } from '@gaia-mesh/evaluation/attempts/attempt.ts';
import { exportCacheFile, importCacheFile } from '@gaia-mesh/evaluation/batch/answer-cache.ts';
import type { BatchEnd } from '@gaia-mesh/evaluation/batch/batch.ts';
import { createBatchProgress } from '@gaia-mesh/evaluation/batch/batch-progress.ts';
import { type FinishedBatch, summarizeTeams } from '@gaia-mesh/evaluation/batch/finished-batch.ts';
import type { BatchHead } from '@gaia-mesh/evaluation/batch/journal/batch-head.ts';
import type { Journal } from '@gaia-mesh/evaluation/batch/journal/journal.ts';
import { createRedactor } from '@gaia-mesh/evaluation/batch/redact.ts';
import { RunLog } from '@gaia-mesh/evaluation/batch/run-log.ts';
import { Runner, type TeamEnd } from '@gaia-mesh/evaluation/batch/runner.ts';
import { buildTeamFacts, type TeamFacts } from '@gaia-mesh/evaluation/batch/teams/team-facts.ts';
import { formatComparison } from '@gaia-mesh/evaluation/compare/comparison-table.ts';
import { compareTeams } from '@gaia-mesh/evaluation/compare/teams/compare-teams.ts';
import { shortenPath } from '@gaia-mesh/evaluation/plan/batch-places.ts';
import {
  type GaiaOptions,
  type GaiaPlan,
  gaiaTable,
  planGaia,
} from '@gaia-mesh/evaluation/plan/gaia-plan.ts';
import { findMissingFiles } from '@gaia-mesh/evaluation/questions/place-file.ts';
import type { SubmissionScore } from '@gaia-mesh/evaluation/questions/scoring-api.ts';
import type { AttemptQueue } from '@gaia-mesh/evaluation/queue/attempt-queue.ts';
import type { Coordinator } from '@gaia-mesh/evaluation/queue/coordinator.ts';
import { readBatchData } from '@gaia-mesh/evaluation/report/batch-data.ts';
import { fillPage } from '@gaia-mesh/evaluation/report/page-html.ts';
import type { TeamSummary } from '@gaia-mesh/evaluation/results/summary.ts';
import { formatBatchTable } from '@gaia-mesh/evaluation/results/tables/batch-table.ts';
import { formatConditions, formatFailure } from '@gaia-mesh/evaluation/results/tables/bench-report.ts';
import { buildGaiaPart } from '@gaia-mesh/evaluation/results/tables/results-page.ts';
import { WrongAnswers } from '@gaia-mesh/evaluation/results/tables/wrong-answers.ts';
import { submitTeams, writeAnswers } from '@gaia-mesh/evaluation/results/write-results.ts';
import { resolvePage, writeMeasured } from '@gaia-mesh/evaluation/terminal/docs-page.ts';
import { formatJson, print, printError, printJson, printText } from '@gaia-mesh/evaluation/terminal/print.ts';
import { createAlarms } from '@gaia-mesh/evaluation/terminal/progress.ts';
import type { Watch } from '@gaia-mesh/evaluation/watch/watch.ts';
import type { Command } from 'commander';
import { EXIT, endToExitCode, statusToExitCode } from '../command-line/exit-code.ts';
import { handleInterrupt } from '../command-line/interruptible.ts';
import { loadKeys } from '../command-line/load-keys.ts';
import { defineOptions } from '../command-line/options.ts';
import { runExporter } from '../command-line/otlp-option.ts';
import { resumption } from '../command-line/resume-command.ts';
import { formatDone, printWarnings } from '../command-line/warnings.ts';
import { openWatch } from '../command-line/watching.ts';
import { parseDemands } from '../compare/demands.ts';
import { blameCommand } from './blame.ts';
import { gapsCommand } from './gaps.ts';

/** Maximum missing files named before the first question; the log names all of them. */
const SHOWN_MISSING = 10;

export function defineGaia(command: Command): void {
  defineOptions(command, gaiaTable, run);
  // Options of both belong to the subcommand when they follow its name.
  command.enablePositionalOptions();
  gapsCommand(command.command('gaps').description('review what the overseer learned from wrong answers'));
  blameCommand(command.command('blame').description('find the message that made an answer wrong'));
}

/**
 * Lets teams of agents answer a file of questions, one team after the other, and reports the results (SV-01, RA-01).
 */
async function run(options: GaiaOptions): Promise<void> {
  loadKeys();
  if (options.cancel !== undefined) return cancelBatch(options.cancel, options.store);
  const exportRun = await runExporter(options.otlp);
  const name = options.format === 'wtq' ? 'gaia-tables.md' : 'gaia.md';
  const resultsPage = options.write ? resolvePage(`docs/results/${name}`) : undefined;
  const interruption = handleInterrupt('the batch');
  resumption.plan();
  const { plan, runner, settle } = await openRunner(options, interruption.signal);
  if (!options.wait && 'name' in runner) {
    await runner.close();
    for (const { where, why } of await findMissing(plan)) printError(`file of question ${where}: ${why}`);
    print(`Batch ${runner.name} is queued. To wait for it: ${resumption.queued(runner.name)}`);
    return;
  }
  const watch = await openWatch(options, 'gaia');
  try {
    await runPlan(plan, runner, options, {
      resultsPage,
      exportRun,
      settle,
      signal: interruption.signal,
      watch,
    });
  } catch (error) {
    await watch?.close();
    throw error;
  } finally {
    await runner.close();
  }
  await watch?.end('ended', interruption.signal, { kind: 'batch', file: plan.paths.answers });
}

/** Plans the run, and returns what runs it: agents here, or workers elsewhere. */
async function openRunner(
  options: GaiaOptions,
  signal: AbortSignal,
): Promise<{ plan: GaiaPlan; runner: Runner | Coordinator; settle: SettleComparison }> {
  const { resume, store } = options;
  if (!options.queue && typeof resume !== 'string') {
    const plan = await planGaia(options, signal);
    const settle = planDemands(options, plan);
    return { plan, runner: new Runner(plan), settle };
  }
  const planned = options.queue ? await planGaia(options, signal) : undefined;
  // A batch is queued only with conditions that can be checked.
  const settle = planned === undefined ? undefined : planDemands(options, planned);
  const { Coordinator: Remote } = await import('@gaia-mesh/evaluation/queue/coordinator.ts');
  const queue = await openQueue(store);
  try {
    if (planned !== undefined && settle !== undefined) {
      const runner = await Remote.start(planned, queue);
      resumption.queued(runner.name);
      return { plan: planned, runner, settle };
    }
    const { coordinator, plan } = await Remote.resume(String(resume), { queue, options });
    resumption.queued(coordinator.name);
    return { plan, runner: coordinator, settle: planDemands(options, plan) };
  } catch (error) {
    await queue.close();
    throw error;
  }
}

type SettleComparison = ReturnType<typeof parseDemands>;

function planDemands(options: GaiaOptions, plan: GaiaPlan): SettleComparison {
  const teams = plan.teams.map(({ team }) => team);
  return parseDemands(options, teams, {
    kind: 'teams',
    environment: {},
    questions: { asked: plan.questions.length, sha256: plan.fingerprint.questions ?? '' },
  });
}

async function openQueue(store: string | undefined): Promise<AttemptQueue> {
  if (store === undefined)
    throw new MeshError(
      'usage',
      'a queued batch is in a Postgres database: name it with --store postgres://…',
    );
  const { AttemptQueue: Queue } = await import('@gaia-mesh/evaluation/queue/attempt-queue.ts');
  return Queue.open(store, { warn: printError });
}

async function cancelBatch(name: string, store: string | undefined): Promise<void> {
  const queue = await openQueue(store);
  try {
    const { plan, state } = await queue.readBatch(name);
    if (state === 'finished' || state === 'cancelled')
      throw new MeshError('usage', `--cancel ${name}: the batch is ${state} already`);
    await queue.end(name, plan.teams.length, 'cancelled');
    print(`Batch ${name} is cancelled. Workers drop what they are working on.`);
  } finally {
    await queue.close();
  }
}

interface RunContext {
  /** Conditions on the comparison of the teams. */
  readonly settle: SettleComparison;
  /** The results page, with `--write`. */
  readonly resultsPage: string | undefined;
  readonly exportRun: Awaited<ReturnType<typeof runExporter>>;
  readonly signal: AbortSignal;
  readonly watch: Watch | undefined;
}

async function runPlan(
  plan: GaiaPlan,
  runner: Runner | Coordinator,
  options: GaiaOptions,
  context: RunContext,
): Promise<void> {
  const { paths, questions, repeat } = plan;
  const { signal, resultsPage, exportRun, settle, watch } = context;
  const redact = createRedactor(process.env);
  const cache = await runner.openStore();
  const { journal } = runner;
  resumption.begin();
  const log = new RunLog(paths.folder, redact);
  const progress = await createBatchProgress(
    plan.teams.length * repeat * questions.length,
    'questions',
    plan.api !== undefined,
  );
  const note = (text: string) => {
    progress.note(text);
    log.note(text);
  };
  const alarms = createAlarms({ say: note });
  try {
    for (const warning of plan.warnings) {
      note(warning);
      watch?.note(warning);
    }
    runner.onNote = (text) => {
      note(text);
      watch?.note(text);
    };
    if (journal.dropped !== undefined) note(journal.dropped);
    const missing = await findMissing(plan);
    for (const { where, why } of missing.slice(0, SHOWN_MISSING)) note(`file of question ${where}: ${why}`);
    if (missing.length > SHOWN_MISSING)
      note(`… and ${missing.length - SHOWN_MISSING} more files are missing`);
    await importCacheFile(plan, cache, note);
    const { teams, end } = await runner.run({
      redact,
      observer: watch?.beside(alarms) ?? alarms,
      onEvent(event) {
        progress.event(event);
        log.event(event);
        watch?.batchEvent(event);
      },
      signal,
    });
    if (end.kind === 'finished') await exportCacheFile(plan, cache);
    progress.end();
    let isExported = true;
    for (const [team, { mesh }] of teams)
      if (
        mesh !== undefined &&
        !(await exportRun(mesh.folder.archiveFile, teams.size === 1 ? undefined : team))
      )
        isExported = false;
    await finish(
      plan,
      options,
      { journal, head: runner.head, resultsPage, isExported, missing, settle },
      teams,
      end,
      signal,
    );
    if (end.kind !== 'finished') log.note(end.reason);
  } catch (error) {
    log.error(error);
    throw error;
  } finally {
    progress.end();
    log.close();
  }
}

type Ends = ReadonlyMap<string, TeamEnd>;

/** The facts and targets that {@link finish} needs to write a batch's results. */
interface Leaves extends Pick<RunContext, 'resultsPage' | 'settle'> {
  readonly journal: Journal;
  readonly head: BatchHead;
  readonly isExported: boolean;
  /** Warnings about missing files of questions. */
  readonly missing: readonly RunWarning[];
}

/**
 * Writes answers, page, submission and summary of all finished questions, so that an interrupted batch has results,
 * too.
 */
async function finish(
  plan: GaiaPlan,
  options: GaiaOptions,
  { journal, head, resultsPage, isExported, missing, settle }: Leaves,
  ends: Ends,
  end: BatchEnd,
  signal: AbortSignal,
): Promise<void> {
  const { paths, questions, repeat } = plan;
  const batch: FinishedBatch = { head, questions, read: (key) => journal.read(key) };
  const results = summarizeTeams(batch);
  const comparison = compareTeams({ batch, summaries: results });
  const isCompared = plan.teams.length > 1;
  const summaries: Record<string, TeamSummary & TeamFacts> = {};
  for (const { team } of plan.teams) {
    const own = results[team.name];
    if (own !== undefined) summaries[team.name] = { ...own, ...buildTeamFacts(team, ends.get(team.name)) };
  }
  const isComplete = end.kind === 'finished';
  const isAnswered = Object.values(summaries).some(({ answered }) => answered > 0);
  const [first] = isComplete ? listTimeouts(batch) : [];
  const hasFaults = [...ends.values()].some(({ mesh }) => mesh?.metrics.faults !== undefined);
  let submissions: ReadonlyMap<string, SubmissionScore> = new Map();
  try {
    writeAnswers(batch, paths.answers);
    const shown = readBatchData({ batch, summaries: results }, comparison);
    if (isCompared) writeWhole(paths.comparison, formatJson(comparison));
    writeWhole(paths.report, fillPage({ kind: 'batch', batch: shown }).html);
    submissions = await submitTeams(plan, batch, isAnswered && isComplete && !signal.aborted);
  } finally {
    // Figures that cost tokens are shown, even if the disk has no room for them.
    if (options.json) {
      const summary = {
        schema_version: 1,
        complete: isComplete,
        ended_by: isComplete ? undefined : end.kind,
        reason: isComplete ? undefined : end.reason,
        scorer: 'gaia',
        questions: questions.length,
        repeat,
        teams: summaries,
        submissions: submissions.size === 0 ? undefined : Object.fromEntries(submissions),
      };
      printJson(summary);
    } else if (isAnswered || (isComplete && first === undefined) || hasFaults) {
      // Injected faults are a result in themselves.
      printText(`\n${[formatBatchTable(summaries), ...listConditions(ends)].join('\n')}`);
      if (isCompared) printText(`${formatComparison(comparison)}\n`);
      printText(`\n${collectWrongAnswers(batch).lines().join('\n')}`);
      for (const [team, score] of submissions) print(scoreLine(team, score));
    }
  }
  const warnings = [...missing, ...[...ends.values()].flatMap(({ mesh }) => mesh?.metrics.warnings ?? [])];
  for (const [team, { mesh }] of ends)
    printWarnings(mesh?.metrics.warnings ?? [], ends.size === 1 ? undefined : team);
  const unsaved = [...ends].flatMap(([team, { mesh }]) =>
    mesh?.unsaved === undefined ? [] : [{ team, fault: mesh.unsaved }],
  );
  for (const { team, fault } of unsaved) printError(`gaia-mesh: team ${team}: ${fault.message}`);
  const [answers, page] = [shortenPath(paths.answers), shortenPath(paths.report)];
  if (first !== undefined) {
    printError(
      `No question was answered: ${formatFailure(first)}. ` +
        `Reasons of all: ${answers} and ${page}. To ask again: ${resumption.again()}`,
    );
    process.exitCode = statusToExitCode('timeout');
    return;
  }
  if (isComplete) {
    if (resultsPage !== undefined) {
      await writeMeasured(resultsPage, buildGaiaPart({ batch, summaries }));
    }
    if (options.json) printError(`written: ${answers}, ${page}`);
    else if (unsaved.length === 0) print(formatDone(`${answers} and ${page}`, warnings, isExported));
    if ((options.strict && warnings.length > 0) || unsaved.length > 0) process.exitCode = EXIT.failed;
    settle(comparison);
    return;
  }
  printError(
    `The batch ended early: ${end.reason}. Partial results: ${answers} and ${page}. To go on: ${resumption.command(end)}`,
  );
  process.exitCode = endToExitCode(end);
}

/** Lists the lines about the network and the faults that each team met. */
function listConditions(ends: Ends): string[] {
  return [...ends].flatMap(([team, { mesh }]) => {
    const lines = mesh === undefined ? [] : formatConditions(mesh.metrics);
    return lines.length === 0 || ends.size === 1 ? lines : [`${team}:`, ...lines];
  });
}

/** Lists the attempts of a batch in which every one reached a limit of its question; an empty list for any other batch. */
function listTimeouts({ head, questions, read }: FinishedBatch): Attempt[] {
  const results = head.teams.flatMap(({ name }) =>
    questions.flatMap(({ taskId }) => read({ task_id: taskId, team: name, cycle: 1 }) ?? []),
  );
  return results.every(({ status, code }) => status === 'timeout' || code === 'limit') ? results : [];
}

function collectWrongAnswers({ head, questions, read }: FinishedBatch): WrongAnswers {
  const wrong = new WrongAnswers();
  for (const { taskId, question, truths } of questions) {
    const answers = head.teams.flatMap(({ name }): [string, string][] => {
      const result = read({ task_id: taskId, team: name, cycle: 1 });
      return result?.status === 'answered' && result.correct === false ? [[name, result.final_answer]] : [];
    });
    wrong.add({ id: taskId, question, truth: truths.join(' | ') }, answers);
  }
  return wrong;
}

function scoreLine(
  team: string,
  { score, correct_count, total_attempted, message }: SubmissionScore,
): string {
  return `Submitted (${team}): score ${score} %, ${correct_count} of ${total_attempted} correct. ${message}`;
}

/** Finds missing files before the first question (REQ-052). With a server, the folder need not have every file. */
async function findMissing(plan: GaiaPlan): Promise<RunWarning[]> {
  if (plan.folder === undefined || plan.api !== undefined) return [];
  const missing = await findMissingFiles(plan.questions, plan.folder);
  return missing.map(({ taskId, why }) => ({ lost: 'file', where: taskId, why, agent: null, times: 1 }));
}
