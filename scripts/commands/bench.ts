import path from 'node:path';
import type { AgentEndpoint } from '@gaia-mesh/core/agent/spec.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { toFolderName } from '@gaia-mesh/core/contracts/packet.ts';
import type { TaskStatus } from '@gaia-mesh/core/hub/tasks/task-clock.ts';
import type { RunMetrics } from '@gaia-mesh/core/run/metrics/metrics-schema.ts';
import type { RunFolder } from '@gaia-mesh/core/run/run-folder.ts';
import { readLastLines } from '@gaia-mesh/core/system/files/untrusted-file.ts';
import { tryParseJson } from '@gaia-mesh/core/system/json-line.ts';
import { tryNamespaces } from '@gaia-mesh/core/system/process/without-network.ts';
import { formatCommandLine } from '@gaia-mesh/core/system/shell-word.ts';
import { DEFAULT_SUBJECT } from '@gaia-mesh/core/transports/nats/subjects.ts';
import { createBatchProgress } from '@gaia-mesh/evaluation/batch/batch-progress.ts';
import { formatAttemptKey } from '@gaia-mesh/evaluation/batch/journal/journal.ts';
import { createRedactor } from '@gaia-mesh/evaluation/batch/redact.ts';
import { Runner, type TeamEnd } from '@gaia-mesh/evaluation/batch/runner.ts';
import { shortenPath } from '@gaia-mesh/evaluation/plan/batch-places.ts';
import {
  type BenchOptions,
  type BenchPlan,
  benchTable,
  planBench,
} from '@gaia-mesh/evaluation/plan/bench-plan.ts';
import type { Question } from '@gaia-mesh/evaluation/questions/question.ts';
import { type BenchOutcome, summarizeBench } from '@gaia-mesh/evaluation/results/bench-summary.ts';
import {
  formatBatchReport,
  formatFailure,
  runReport,
} from '@gaia-mesh/evaluation/results/tables/bench-report.ts';
import { print, printError, printJson, printText } from '@gaia-mesh/evaluation/terminal/print.ts';
import { createQuietProgress, flowProgress, type Progress } from '@gaia-mesh/evaluation/terminal/progress.ts';
import { formatPercent, toOneLine } from '@gaia-mesh/evaluation/terminal/table.ts';
import type { Command } from 'commander';
import * as z from 'zod';
import { EXIT, endToExitCode, statusToExitCode } from '../command-line/exit-code.ts';
import { handleInterrupt } from '../command-line/interruptible.ts';
import { defineOptions } from '../command-line/options.ts';
import { runExporter } from '../command-line/otlp-option.ts';
import { resumption } from '../command-line/resume-command.ts';
import { formatDone, printWarnings } from '../command-line/warnings.ts';
import { openWatch } from '../command-line/watching.ts';

export function defineBench(command: Command): void {
  defineOptions(command, benchTable, run);
}

/** Runs the benchmark: one task, or a file of tasks on the same live agents. */
async function run(options: BenchOptions): Promise<void> {
  tryNamespaces();
  const exportRun = await runExporter(options.otlp);
  if (options.tasks !== undefined || options.repeat > 1) resumption.plan();
  const plan = await planBench(options);
  const runner = new Runner(plan);
  if (plan.resumes) await checkResumed(plan, runner);
  const total = plan.questions.length * plan.repeat;
  const finished = plan.resumes ? runner.journal.size : 0;
  const progress = await createProgress(plan, options);
  runner.onNote = progress.note;
  if (plan.resumes) progress.note(`${finished} of ${total} tasks were finished before`);
  for (const warning of plan.warnings) progress.note(warning);
  const { signal } = handleInterrupt();
  const watch = await openWatch(options, 'bench');
  const kept = new Set<string>();
  try {
    await runner.openStore();
    const { teams } = await runner
      .run({
        redact: createRedactor(process.env),
        observer: watch?.beside(progress.observer) ?? progress.observer,
        howToStart: formatAgentCommand,
        onEvent(event) {
          resumption.begin();
          progress.event?.(event);
          if (event.kind === 'kept') kept.add(formatAttemptKey(event.attempt));
        },
        signal,
      })
      .finally(progress.end);
    const [ended] = teams.values();
    if (ended?.mesh === undefined) throw ended?.end.kind === 'stopped' ? ended.end.error : signal.reason;
    const { metrics, folder, unsaved } = ended.mesh;
    const { end, wallSeconds } = ended;
    const batch = plan.isBatch
      ? { end, ...summarizeBench(plan, runner.journal, kept, { metrics, wallSeconds }) }
      : undefined;
    const isExported = await exportRun(folder.archiveFile);
    report(plan, options, folder, metrics, { batch, isExported, unsaved });
    const exitCode = chooseExitCode(options, metrics, batch, signal);
    process.exitCode =
      exitCode === EXIT.done && (!isExported || unsaved !== undefined) ? EXIT.failed : exitCode;
    const status = batch?.status ?? metrics.status;
    await watch?.end(status, signal, { kind: 'run', file: folder.archiveFile });
  } finally {
    await runner.close();
    await watch?.close();
  }
}

/** A batch of tasks and its end. */
type BenchBatch = BenchOutcome & Pick<TeamEnd, 'end'>;

/**
 * Refuses to resume a batch that is finished.
 *
 * @throws MeshError `usage`, and as {@link Journal.open}
 */
async function checkResumed({ paths, questions, repeat }: BenchPlan, runner: Runner): Promise<void> {
  const { journal: file } = paths;
  const total = questions.length * repeat;
  if (runner.journal.size < total) return;
  await runner.close();
  throw new MeshError(
    'usage',
    `--resume: all ${total} tasks in ${file} are finished; leave out --resume to run them again`,
  );
}

function chooseExitCode(
  options: BenchOptions,
  metrics: RunMetrics,
  batch: BenchBatch | undefined,
  signal: AbortSignal,
): number {
  if (signal.aborted) return EXIT.interrupted;
  if (batch !== undefined && batch.end.kind !== 'finished') return endToExitCode(batch.end);
  // A batch succeeds when every task was finished, whatever its score.
  const code = statusToExitCode(batch?.status ?? metrics.status);
  return code === 0 && options.strict && metrics.warnings.length > 0 ? EXIT.failed : code;
}

/** Returns the command line that starts an agent. */
function formatAgentCommand(agent: { id: string; tool: string; place: AgentEndpoint }): string {
  const words = ['--id', agent.id, '--tool', agent.tool, ...listEndpointOptions(agent.place)];
  return formatCommandLine('agent', words);
}

function listEndpointOptions(endpoint: AgentEndpoint): string[] {
  if ('port' in endpoint) return ['--port', String(endpoint.port)];
  const url = endpoint.natsUrl === undefined ? [] : ['--nats-url', endpoint.natsUrl];
  const subject = endpoint.subject === DEFAULT_SUBJECT ? [] : ['--nats-subject', endpoint.subject];
  return ['--transport', 'nats', ...url, ...subject];
}

function report(
  plan: BenchPlan,
  options: BenchOptions,
  folder: RunFolder,
  metrics: RunMetrics,
  {
    batch,
    isExported,
    unsaved,
  }: {
    readonly batch: BenchBatch | undefined;
    readonly isExported: boolean;
    readonly unsaved: MeshError | undefined;
  },
): void {
  printWarnings(metrics.warnings);
  const status = batch?.status ?? metrics.status;
  const fault = explainFault(plan, folder, status, batch);
  if (unsaved !== undefined) printError(`gaia-mesh: ${unsaved.message}`);
  if (options.json) {
    printJson(batch?.json ?? metrics);
    if (batch !== undefined && fault !== undefined) printError(fault);
    return;
  }
  const [task] = plan.questions;
  if (!options.quiet) {
    if (batch !== undefined) {
      // If every task timed out, or none was answered before a cause that they share, a table of zeros with intervals would look
      // like a result. After injected faults it is one.
      const { answered, timeout, tasks } = batch.json;
      const isResult = answered > 0 || (batch.end.kind === 'finished' && timeout < tasks);
      if (isResult || metrics.faults !== undefined) printText(formatBatchReport(batch, metrics));
    } else if (task !== undefined)
      printText(runReport(task, metrics, findSource(plan, task, metrics, folder.workspaces)));
  } else if (batch !== undefined) {
    const { tasks, answered, normalized_em: right } = batch.json;
    const share = right === null ? '' : `, ${formatPercent(right)} right`;
    printText(`${answered} of ${tasks} tasks answered${share}\n`);
  } else if (metrics.answer !== null) {
    printText(`${toOneLine(metrics.answer, Number.POSITIVE_INFINITY)}\n`);
  }
  const single =
    status === 'answered' || task === undefined
      ? []
      : [{ task_id: task.taskId, cycle: 1, status, reason: metrics.reason }];
  for (const attempt of batch?.failures ?? single) printError(formatFailure(attempt));
  if (fault !== undefined) printError(fault);
  else if (unsaved === undefined) print(formatDone(listFiles(plan, folder), metrics.warnings, isExported));
}

/** Says why a run did not answer all of its tasks, and how to go on or to ask again; undefined for any other run. */
function explainFault(
  plan: BenchPlan,
  folder: RunFolder,
  status: TaskStatus,
  batch: BenchBatch | undefined,
): string | undefined {
  const files = listFiles(plan, folder);
  if (batch !== undefined && batch.end.kind !== 'finished')
    return `The batch ended early: ${batch.end.reason}. Partial results: ${files}. To go on: ${resumption.command(batch.end)}`;
  if (status === 'answered') return undefined;
  const ended = `Run ${status === 'timeout' ? 'timed out' : 'failed'}. Partial results: ${files}`;
  if (batch === undefined) return ended;
  return `${ended}. To ask ${batch.json.answered === 0 ? '' : 'all '}again: ${resumption.again()}`;
}

function listFiles(plan: BenchPlan, folder: RunFolder): string {
  return [...(plan.isBatch ? [folder.resultsFile] : []), folder.metricsFile, folder.archiveFile]
    .map(shortenPath)
    .join(', ')
    .replace(/, ([^,]*)$/, ' and $1');
}

const LOG = 'reason.log';
const MAX_BYTES = 1024 * 1024;

const lineSchema = z.object({ task_id: z.string(), evidence: z.string().min(1) });

/** Finds the passage that an agent's log names as the source of its answer to a task; undefined when it names none. */
function findEvidence(workspace: string, taskId: string): string | undefined {
  // Not every agent that answers keeps such a log.
  const log = readLastLines(path.join(workspace, LOG), MAX_BYTES)?.text ?? '';
  for (const line of log.split('\n').reverse()) {
    const entry = lineSchema.safeParse(tryParseJson(line));
    if (entry.success && entry.data.task_id === taskId) return entry.data.evidence;
  }
  return undefined;
}

/** Finds the answer in the document, with the passage that it was taken from. */
function findSource(
  { teams, pageStarts }: BenchPlan,
  task: Question,
  { answer }: RunMetrics,
  workspaces: string,
) {
  const [planned] = teams;
  if (answer === null || task.document === undefined || planned === undefined) return undefined;
  const evidence = findEvidence(path.join(workspaces, toFolderName(planned.team.final)), task.taskId);
  const place = answerPlace({ text: task.document, pageStarts }, answer, evidence);
  return place === undefined ? undefined : { place, evidence };
}

async function createProgress(
  { isBatch, questions, repeat }: BenchPlan,
  options: BenchOptions,
): Promise<Progress & Partial<Awaited<ReturnType<typeof createBatchProgress>>>> {
  if (options.quiet) return createQuietProgress();
  return isBatch ? createBatchProgress(questions.length * repeat, 'tasks') : flowProgress();
}

/** Maximum words of a passage that are searched for; they are enough to find it. */
const MAX_SOUGHT_WORDS = 40;

/**
 * Returns the position of an answer in a document, for a person who wants to check it: `page 4` if the document has pages,
 * otherwise `line 120`. Undefined if the document does not contain these words.
 *
 * @param pageStarts the offset of each page in the text, in UTF-16 units
 * @param evidence the passage that the answer was taken from, if known: a short answer may occur many times
 */
export function answerPlace(
  document: { readonly text: string; readonly pageStarts?: readonly number[] | undefined },
  answer: string,
  evidence: string | undefined,
): string | undefined {
  const { text, pageStarts } = document;
  const passage = evidence === undefined ? undefined : find(text, evidence, 0);
  const at = passage === undefined ? find(text, answer, 0) : (find(text, answer, passage) ?? passage);
  if (at === undefined) return undefined;
  if (pageStarts !== undefined && pageStarts.length > 0)
    return `page ${Math.max(1, pageStarts.filter((start) => start <= at).length)}`;
  return `line ${text.slice(0, at).split('\n').length}`;
}

/** Escapes a text for use in a regular expression. */
function escapePattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}

/** Returns the offset of `sought` from `start` on, ignoring differences in white space. */
function find(text: string, sought: string, start: number): number | undefined {
  const words = sought.trim().split(/\s+/).slice(0, MAX_SOUGHT_WORDS);
  if (words.length === 0 || words[0] === '') return undefined;
  const pattern = new RegExp(words.map(escapePattern).join('\\s+'), 'g');
  pattern.lastIndex = start;
  return pattern.exec(text)?.index;
}
