import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { defaultOut, userPath } from '../../config/user-paths.ts';
import { MeshError } from '../../core/errors.ts';
import { readArchivedRecording } from '../../core/recording/read-archive.ts';
import { evaluateThreshold, parseThreshold, type Threshold } from '../../core/statistics/thresholds.ts';
import { adapterNames } from '../../protocols/registry.ts';
import type { ComparisonFile, ComparisonReport } from '../compare/comparison-report.ts';
import { junitOf } from '../compare/junit.ts';
import { cellsOf, hasMatrix, matrixCsv } from '../compare/matrix.ts';
import { measure } from '../compare/measure.ts';
import { type Scenario, type ScenarioOptions, scenariosOf } from '../compare/scenario.ts';
import { comparisonTable, csvOf, markdownOf } from '../compare/tables.ts';
import { writeResults } from '../compare/write-results.ts';
import { docsPage } from '../docs-page.ts';
import { interruptible } from '../interruptible.ts';
import { listOf } from '../option-values.ts';
import { type ChosenAdapters, chosenAdapters } from '../own-adapter.ts';
import { readArchivedRun } from '../report/archived-run.ts';
import { parseComparison } from '../report/comparison-file.ts';
import { reportHtml } from '../report/report-html.ts';

export interface CompareCommandOptions extends ScenarioOptions {
  readonly adapters?: string;
  readonly budget: number;
  readonly rounds: number;
  readonly seed: number;
  readonly failIf?: readonly string[];
  readonly junit?: string;
  readonly out?: string;
  readonly json?: boolean;
  readonly write?: boolean;
}

/** Compares adapters on the same recorded packets: those of one run, or of every run of a matrix. */
export async function compare(options: CompareCommandOptions): Promise<void> {
  const thresholds = (options.failIf ?? []).map(parseThreshold);
  const names = options.adapters === undefined ? adapterNames : listOf(options.adapters);
  if (names.length < 2) {
    throw new MeshError('usage', '--adapters: expected at least two, the baseline first, e.g. json,msgpack');
  }
  const page = options.write ? docsPage('comparison.md') : undefined;
  const chosen = await chosenAdapters(names);
  const { signal } = interruptible();
  const folder = mkdtempSync(path.join(os.tmpdir(), 'gaia-mesh-compare-'));
  try {
    const scenarios = await scenariosOf(options, folder);
    const reports: ComparisonReport[] = [];
    for (const [index, scenario] of scenarios.entries()) {
      if (scenarios.length > 1) console.error(`run ${index + 1} of ${scenarios.length}`);
      const workspaces = path.join(folder, `replay-${index}`);
      reports.push(await compareOne(scenario, chosen, options, { workspaces, signal, of: scenarios.length }));
    }
    const [first] = reports;
    if (first === undefined) throw new Error('there was nothing to compare');
    const report: ComparisonFile = { ...first, matrix: reports.flatMap(cellsOf) };
    write(report, options);
    if (options.json) process.stdout.write(jsonOf(report));
    else console.log(comparisonTable(report));
    hold(thresholds, report, options);
    await writePage(report, scenarios, options);
    const [scenario] = scenarios;
    if (page === undefined || scenario === undefined) return;
    await writeResults(page, report, { ...scenario, ...chosen, args: process.argv.slice(2), signal });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The budget is for all runs together. */
async function compareOne(
  { archive, agents }: Scenario,
  { adapters, agentArguments, readable }: ChosenAdapters,
  { budget, rounds, seed }: CompareCommandOptions,
  { workspaces, signal, of }: { workspaces: string; signal: AbortSignal; of: number },
): Promise<ComparisonReport> {
  const [first, ...rest] = adapters;
  if (first === undefined) throw new Error('no adapter was chosen');
  return measure(await readArchivedRecording(archive), {
    adapters: [first, ...rest],
    chosen: { agentArguments, readable },
    agents,
    budgetMs: (budget * 1000) / of,
    maxRounds: rounds,
    seed,
    workspaces,
    signal,
  });
}

function write(report: ComparisonFile, options: CompareCommandOptions): void {
  const out = outOf(options);
  mkdirSync(out, { recursive: true });
  writeFileSync(path.join(out, 'comparison.json'), jsonOf(report));
  writeFileSync(path.join(out, 'comparison.csv'), csvOf(report));
  writeFileSync(path.join(out, 'comparison.md'), markdownOf(report));
  if (hasMatrix(report)) writeFileSync(path.join(out, 'matrix.csv'), matrixCsv(report.matrix));
  console.error(`written: comparison.json, comparison.csv and comparison.md in ${out}`);
}

/** The comparison and the runs that were recorded for it, as a page. */
async function writePage(
  report: ComparisonFile,
  scenarios: readonly Scenario[],
  options: CompareCommandOptions,
): Promise<void> {
  const comparison = parseComparison(jsonOf(report), 'comparison.json');
  const archives = new Set(scenarios.map(({ archive }) => archive));
  const runs = await Promise.all([...archives].map((archive) => readArchivedRun(archive)));
  const html = await reportHtml({ comparison, runs });
  const file = path.join(outOf(options), 'report.html');
  writeFileSync(file, html);
  console.error(`written: ${file}`);
}

function outOf({ out }: CompareCommandOptions): string {
  return out === undefined ? defaultOut() : userPath(out);
}

function jsonOf(report: ComparisonFile): string {
  return `${JSON.stringify(report, null, 2)}\n`;
}

/** Exit code 1 when a threshold is crossed, so that CI can hold a protocol budget. */
function hold(
  thresholds: readonly Threshold[],
  report: ComparisonReport,
  { junit }: CompareCommandOptions,
): void {
  const table = Object.fromEntries(
    report.adapters.map(({ adapter, ledger, latency_us, prompt_tokens }) => [
      adapter,
      {
        bytes: ledger.total.wire,
        header: ledger.total.header_size,
        time: latency_us.median,
        ...(prompt_tokens === null ? {} : { tokens: prompt_tokens }),
      },
    ]),
  );
  const results = thresholds.map((threshold) => evaluateThreshold(threshold, table));
  for (const { text, failed, left, right } of results) {
    console.error(`${failed ? 'FAILED' : 'held'}: ${text} (${left} against ${right})`);
    if (failed) process.exitCode = 1;
  }
  if (junit === undefined) return;
  mkdirSync(path.dirname(userPath(junit)), { recursive: true });
  writeFileSync(userPath(junit), junitOf(results));
}
