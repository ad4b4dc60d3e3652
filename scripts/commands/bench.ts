import { appendFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { codeFolder, packageFolder, packageVersion, readableByAgents } from '../../config/package-root.ts';
import { promptNamed } from '../../config/prompts.ts';
import { defaultOut, userPath } from '../../config/user-paths.ts';
import { MeshRun } from '../../core/run/mesh-run.ts';
import type { RunMetrics } from '../../core/run/metrics.ts';
import { SummaryBuilder } from '../../core/run/summary.ts';
import type { TaskResult } from '../../core/run/task-result.ts';
import { engineNamed } from '../../tools/engines/registry.ts';
import { agentArguments } from '../bench/agent-arguments.ts';
import { type BenchOptions, type Plan, planOf } from '../bench/plan.ts';
import { batchReport, failures, runReport } from '../bench/report.ts';
import { exitCodeOfStatus, INTERRUPTED_EXIT } from '../exit-code.ts';
import { interruptible } from '../interruptible.ts';
import { barProgress, flowProgress, type Progress, quietProgress } from '../terminal/progress.ts';
import { oneLine } from '../terminal/table.ts';

/** Failed tasks that are named at the end of a batch; `results.jsonl` has them all. */
const SHOWN_FAILURES = 5;

/** Runs the benchmark: one task, or a file of them on the same live agents. */
export async function bench(options: BenchOptions): Promise<void> {
  const plan = await planOf(options);
  const progress = await progressFor(plan, options);
  for (const warning of plan.warnings) progress.note(warning);
  if (typeof plan.faults?.spec === 'string' && options.faultSeed === undefined) {
    progress.note(
      `faults drawn with seed ${plan.faults.seed}; --fault-seed ${plan.faults.seed} repeats them`,
    );
  }
  const interruption = interruptible();
  const run = await start(plan, options, progress, interruption.signal);
  let results: Results;
  try {
    results = await runTasks(run, plan, interruption.signal);
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
  process.exitCode = interruption.signal.aborted ? INTERRUPTED_EXIT : exitCodeOfStatus(metrics.status);
}

interface Results {
  readonly summary: SummaryBuilder;
  readonly failed: TaskResult[];
  readonly wallMs: number;
}

async function start(
  plan: Plan,
  options: BenchOptions,
  progress: Progress,
  signal: AbortSignal,
): Promise<MeshRun> {
  const { team } = plan;
  const engine = await engineNamed(team.engine, { prompts: promptNamed });
  return MeshRun.start({
    team,
    adapter: plan.adapter,
    scorer: plan.scorer,
    out: options.out === undefined ? defaultOut() : userPath(options.out),
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

async function runTasks(run: MeshRun, plan: Plan, signal: AbortSignal): Promise<Results> {
  const summary = new SummaryBuilder();
  const failed: TaskResult[] = [];
  const startMs = performance.now();
  const waiting = plan.tasks.values();
  if (plan.isBatch) writeFileSync(run.folder.resultsFile, '');
  const worker = async () => {
    // The workers share one iterator: each takes the next task when it is done with one.
    for (const task of waiting) {
      if (signal.aborted) return;
      const result = await run.runTask(task);
      summary.add(task, result);
      if (result.status !== 'answered' && failed.length < SHOWN_FAILURES) failed.push(result);
      if (plan.isBatch) appendFileSync(run.folder.resultsFile, `${JSON.stringify(result)}\n`);
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
  const { run_id, team, adapter, engine, token_sum, bytes_tx, bytes_rx, pkt_cnt } = metrics;
  const summary = results.summary.summary(
    {
      run_id,
      team,
      adapter,
      engine,
      token_sum,
      bytes_tx,
      bytes_rx,
      pkt_cnt,
      balanced: metrics.ledger.balanced,
    },
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
  if (metrics.status === 'answered') console.log(`✅ DONE → See ${files}`);
  else console.error(`Not finished (${metrics.status}); what there is: ${files}`);
}

/** A file as the user would type it: relative where that is shorter. */
function shown(file: string): string {
  const relative = path.relative(userPath('.'), file);
  return relative.startsWith('..') ? file : relative;
}

async function progressFor(plan: Plan, options: BenchOptions): Promise<Progress> {
  if (options.quiet) return quietProgress();
  return plan.isBatch ? barProgress(plan.tasks.length) : flowProgress();
}
