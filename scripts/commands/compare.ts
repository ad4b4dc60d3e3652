import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { describeEnvironment } from '@gaia-mesh/core/run/manifest.ts';
import { checkWritable, writeWhole } from '@gaia-mesh/core/system/files/whole-file.ts';
import { packageVersion } from '@gaia-mesh/core/system/package-root.ts';
import { Random } from '@gaia-mesh/core/system/random.ts';
import { resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';
import { type ComparisonFile, readComparison } from '@gaia-mesh/evaluation/compare/comparison-file.ts';
import {
  buildComparisonPart,
  buildTables,
  formatComparison,
  formatComparisonMarkdown,
} from '@gaia-mesh/evaluation/compare/comparison-table.ts';
import {
  formatChanges,
  formatJunit,
  formatSummary,
} from '@gaia-mesh/evaluation/compare/conditions/ci-reports.ts';
import {
  checkComparable,
  createThresholdFigures,
  judgeChanges,
  toConditionName,
} from '@gaia-mesh/evaluation/compare/conditions/conditions.ts';
import { chooseResultFolder } from '@gaia-mesh/evaluation/plan/batch-places.ts';
import { fillPage } from '@gaia-mesh/evaluation/report/page-html.ts';
import {
  evaluateThreshold,
  parseThreshold,
  SAVED,
  type Threshold,
} from '@gaia-mesh/evaluation/statistics/thresholds.ts';
import { formatCommand, resolvePage, writeMeasured } from '@gaia-mesh/evaluation/terminal/docs-page.ts';
import { formatJson, printError, printJson, printText } from '@gaia-mesh/evaluation/terminal/print.ts';
import { ProgressBar } from '@gaia-mesh/evaluation/terminal/progress-bar.ts';
import { quoteShellWord } from '@gaia-mesh/evaluation/terminal/shell-word.ts';
import type { Command } from 'commander';
import { EXIT } from '../command-line/exit-code.ts';
import { handleInterrupt } from '../command-line/interruptible.ts';
import { defineOptions } from '../command-line/options.ts';
import { openWatch } from '../command-line/watching.ts';
import { planAdapters } from '../compare/adapter-plan.ts';
import { type CompareOptions, type ComparisonPlan, compareTable } from '../compare/compare-options.ts';

/** Conditions of CI on a comparison; they are read and checked before it runs, since it takes minutes. */
interface Demands {
  readonly thresholds: readonly Threshold[];
  readonly saved: ComparisonFile | undefined;
}

export function defineCompare(command: Command): void {
  defineOptions(command, compareTable, run);
}

/** Compares adapters or stacks: the plan decides about the arms, and everything else is the same. */
async function run(given: CompareOptions): Promise<void> {
  const { bindings, stacks = bindings } = given;
  const options: CompareOptions = { ...given, stacks };
  const plan = stacks === undefined ? await planAdapters(options) : await planStacks(stacks, options);
  const demands = parseDemands(options, plan);
  const page = options.write ? resolvePage(plan.page) : undefined;
  const out = chooseResultFolder(options.out);
  // The folder is checked first, since the comparison takes minutes.
  checkWritable(out);
  const { signal } = handleInterrupt();
  const watch = await openWatch(options, 'compare');
  try {
    const command = formatCommand(process.argv.slice(2));
    // Runs that are recorded first have the terminal for themselves.
    let started: Promise<ProgressBar> | undefined;
    const onBar = (use: (bar: ProgressBar) => void) => {
      started ??= ProgressBar.start(100, '%');
      void started.then(use);
    };
    const report = await plan
      .compare({
        feed: watch?.feed,
        command,
        random: new Random(options.seed),
        onProgress: (share, what) => {
          onBar((bar) => bar.at(100 * share, what));
          watch?.feed.add({ event: 'progress', share: Math.min(1, share), text: what });
        },
        onNote: (note) => {
          onBar((bar) => bar.note(note));
          watch?.note(note);
        },
        signal,
      })
      .finally(async () => (await started)?.end());
    writeAll(report, out);
    if (options.json) printJson(report);
    else printText(`${formatComparison(report)}\n`);
    if (report.failed.length > 0) process.exitCode = EXIT.failed;
    settle(report, demands, options);
    if (signal.aborted) {
      process.exitCode = EXIT.interrupted;
      return;
    }
    if (page !== undefined) await writeMeasured(page, process.argv.slice(2), buildComparisonPart(report));
    await watch?.end('compared', signal, { kind: 'comparison', file: path.join(out, 'comparison.json') });
  } finally {
    await watch?.close();
  }
}

async function planStacks(names: readonly string[], options: CompareOptions) {
  // Only comparisons of stacks load them.
  const stacks = await import('../compare/stack-plan.ts');
  return stacks.planStacks(names, options);
}

/** Writes the comparison in all formats. */
function writeAll(report: ComparisonFile, out: string): void {
  const { csv } = buildTables(report);
  writeWhole(path.join(out, 'comparison.json'), formatJson(report));
  writeWhole(path.join(out, 'comparison.csv'), csv);
  writeWhole(path.join(out, 'comparison.md'), formatComparisonMarkdown(report));
  writeWhole(path.join(out, 'comparison.html'), fillPage({ kind: 'comparison', comparison: report }).html);
  printError(`written: comparison.html, comparison.json, comparison.csv and comparison.md in ${out}`);
}

/**
 * Parses the conditions and the baseline.
 *
 * @throws MeshError `usage` for an invalid condition or one on an arm that is not measured, `config` for an invalid baseline
 */
function parseDemands({ failIf = [], baseline }: CompareOptions, { arms, facts }: ComparisonPlan): Demands {
  const names = arms.map(toConditionName);
  const thresholds = failIf.map((text) => parseThreshold(text, names));
  const needsSaved = thresholds.find(({ times }) => times === SAVED);
  if (needsSaved !== undefined && baseline === undefined) {
    throw new MeshError('usage', `--fail-if '${needsSaved.text}': "${SAVED}" needs --baseline <file>`);
  }
  if (baseline === undefined) return { thresholds, saved: undefined };
  const saved = readComparison(resolveUserPath(baseline));
  checkComparable(saved, { ...facts, environment: describeEnvironment(packageVersion) }, baseline);
  return { thresholds, saved };
}

/**
 * Checks the conditions, prints changes and writes the reports. Sets exit code 1 when a condition fails, so that CI can
 * enforce a budget.
 */
function settle(now: ComparisonFile, { thresholds, saved }: Demands, options: CompareOptions): void {
  const { junit, summary, saveBaseline, baseline = '' } = options;
  if (saved !== undefined) checkComparable(saved, now, baseline);
  const changes = saved === undefined ? [] : judgeChanges(saved, now);
  if (changes.length > 0) {
    const head = 'Changes from the saved baseline (times include changes of the machine since then):';
    printError(`${head}\n${formatChanges(changes)}`);
  }
  const figures = createThresholdFigures(now, saved);
  const conditions = thresholds.map((threshold) => evaluateThreshold(threshold, figures));
  for (const { text, outcome, found } of conditions) {
    printError(`${outcome === 'failed' ? 'FAILED' : outcome}: ${text} (${found})`);
    if (outcome === 'failed') process.exitCode = EXIT.failed;
  }
  const command = ['npm run', 'compare', '--', ...process.argv.slice(3).map(quoteShellWord)].join(' ');
  if (junit !== undefined) writeOutput(junit, formatJunit(conditions));
  if (summary !== undefined) writeOutput(summary, formatSummary(now, { conditions, changes, command }));
  // The baseline is saved even when a condition failed.
  if (saveBaseline !== undefined) writeOutput(saveBaseline, formatJson(now));
}

function writeOutput(file: string, text: string): void {
  const target = resolveUserPath(file);
  mkdirSync(path.dirname(target), { recursive: true });
  writeWhole(target, text);
  printError(`written: ${target}`);
}
