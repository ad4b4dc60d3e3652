import path from 'node:path';
import { codeFolder, packageFolder, packageVersion, readableByAgents } from '../../config/package-root.ts';
import { promptNamed } from '../../config/prompts.ts';
import { defaultOut, userPath } from '../../config/user-paths.ts';
import { MeshRun } from '../../core/run/mesh-run.ts';
import type { RunMetrics } from '../../core/run/metrics.ts';
import { RunFolder } from '../../core/run/run-folder.ts';
import { SummaryBuilder } from '../../core/run/summary.ts';
import type { TaskResult } from '../../core/run/task-result.ts';
import { engineNamed } from '../../tools/engines/registry.ts';
import { agentArguments } from '../bench/agent-arguments.ts';
import { type BenchOptions, type Plan, planOf } from '../bench/plan.ts';
import { batchReport, failures, runReport } from '../bench/report.ts';
import { finishedBefore, ResultsFile } from '../bench/results-file.ts';
import { exitCodeOfStatus, INTERRUPTED_EXIT } from '../exit-code.ts';
import { interruptible } from '../interruptible.ts';
import { barProgress, flowProgress, type Progress, quietProgress } from '../terminal/progress.ts';
import { oneLine } from '../terminal/table.ts';

/** Failed tasks that are named at the end of a batch; `results.jsonl` has them all. */
const SHOWN_FAILURES = 5;

/** Runs the benchmark: one task, or a file of them on the same live agents. */
export async function bench(options: BenchOptions): Promise<void> {
  const plan = await planOf(options);
  const out = options.out === undefined ? defaultOut() : userPath(options.out);
  const kept = options.resume === true ? finishedBefore(RunFolder.at(out), plan) : [];
  const progress = await progressFor(plan, options, plan.tasks.length - kept.length);
  if (kept.length > 0) progress.note(`${kept.length} of ${plan.tasks.length} tasks were finished before`);
  for (const warning of plan.warnings) progress.note(warning);
  if (typeof plan.faults?.spec === 'string' && options.faultSeed === undefined) {
    progress.note(
      `faults drawn with seed ${plan.faults.seed}; --fault-seed ${plan.faults.seed} repeats them`,
    );
  }
  const interruption = interruptible();
  const run = await start(plan, options, out, progress, interruption.signal);
  let results: Results;
  try {
    results = await runTasks(run, plan, kept, interruption.signal);
  } catch (error) {
    // A full disk, or a bug: whatever it is, no process and no port stays behind.
    await run.close(plan.tasks, plan.isBatch);
    throw error;
  } finally {
    progress.end();
  }
  const metrics = await run.close(plan.tasks, plan.isBatch);
  report(plan, options, run, metrics, results);
  // A batch is done when every task was finished, whatever its score.
  const { status } = results.summary;
  process.exitCode = interruption.signal.aborted ? INTERRUPTED_EXIT : exitCodeOfStatus(status);
}

interface Results {
  readonly summary: SummaryBuilder;
  readonly failed: TaskResult[];
  readonly wallMs: number;
}

async function start(
  plan: Plan,
  options: BenchOptions,
  out: string,
  progress: Progress,
  signal: AbortSignal,
): Promise<MeshRun> {
  const { team } = plan;
  const engine = await engineNamed(team.engine, { prompts: promptNamed });
  return MeshRun.start({
    team,
    adapter: plan.adapter,
    scorer: plan.scorer,
    out,
    resumes: options.resume === true,
    portBase: options.portBase,
    external: plan.external,
    timeoutMs: plan.timeoutMs,
    entry: path.join(codeFolder, 'scripts', 'gaia-mesh.js'),
    readable: readableByAgents(),
    agentArguments: (agent) => agentArguments(team, agent),
    environment: process.env,
    engine,
    version: packageVersion,
    packageFolder,
    command: process.argv.slice(2),
    observer: { ...progress.observer, faultNews: progress.note },
    signal,
    ...(plan.faults === undefined ? {} : { faults: plan.faults }),
  });
}

async function runTasks(
  run: MeshRun,
  plan: Plan,
  kept: readonly TaskResult[],
  signal: AbortSignal,
): Promise<Results> {
  const summary = new SummaryBuilder();
  const failed: TaskResult[] = [];
  const startMs = performance.now();
  const file = plan.isBatch ? ResultsFile.begin(run.folder, plan, kept) : undefined;
  const earlier = new Map(kept.map((result) => [result.task_id, result]));
  for (const task of plan.tasks) {
    const result = earlier.get(task.taskId);
    if (result !== undefined) summary.addEarlier(task, result);
  }
  const waiting = plan.tasks.filter((task) => !earlier.has(task.taskId)).values();
  const worker = async () => {
    // The workers share one iterator: each takes the next task when it is done with one.
    for (const task of waiting) {
      if (signal.aborted) return;
      const result = await run.runTask(task);
      summary.add(task, result);
      if (result.status !== 'answered' && failed.length < SHOWN_FAILURES) failed.push(result);
      file?.append(result);
    }
  };
  await Promise.all(Array.from({ length: plan.isBatch ? plan.concurrency : 1 }, worker));
  return { summary, failed, wallMs: performance.now() - startMs };
}

function report(
  plan: Plan,
  options: BenchOptions,
  run: MeshRun,
  metrics: RunMetrics,
  results: Results,
): void {
  const { run_id, team, adapter, engine } = metrics;
  const summary = results.summary.summary(
    { run_id, team, adapter, engine, balanced: metrics.ledger.balanced },
    metrics,
    results.wallMs,
  );
  if (options.json) {
    process.stdout.write(`${JSON.stringify(plan.isBatch ? summary : metrics, null, 2)}\n`);
    return;
  }
  const [task] = plan.tasks;
  if (!options.quiet) {
    if (plan.isBatch) process.stdout.write(batchReport(summary, metrics));
    else if (task !== undefined) process.stdout.write(runReport(task, metrics));
  } else if (!plan.isBatch && metrics.answer !== null) {
    process.stdout.write(`${oneLine(metrics.answer, Number.POSITIVE_INFINITY)}\n`);
  }
  for (const line of failures(results.failed)) console.error(line);
  const files = `${shown(run.folder.metricsFile)} and ${shown(run.folder.archiveFile)}`;
  const { status } = results.summary;
  if (status === 'answered') console.log(`✅ DONE → See ${files}`);
  else console.error(`Not finished (${status}); what there is: ${files}`);
}

/** A file as the user would type it: relative where that is shorter. */
function shown(file: string): string {
  const relative = path.relative(userPath('.'), file);
  return relative.startsWith('..') ? file : relative;
}

async function progressFor(plan: Plan, options: BenchOptions, waiting: number): Promise<Progress> {
  if (options.quiet) return quietProgress();
  return plan.isBatch ? barProgress(waiting) : flowProgress();
}
