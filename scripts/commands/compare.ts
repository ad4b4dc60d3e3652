import path from 'node:path';
import { checkWritable, writeWhole } from '@gaia-mesh/core/system/files/whole-file.ts';
import { Random } from '@gaia-mesh/core/system/random.ts';
import type { ComparisonFile } from '@gaia-mesh/evaluation/compare/comparison-file.ts';
import {
  buildComparisonPart,
  formatComparison,
  formatComparisonCsv,
  formatComparisonMarkdown,
  formatMatrixCsv,
} from '@gaia-mesh/evaluation/compare/comparison-table.ts';
import { chooseResultFolder } from '@gaia-mesh/evaluation/plan/batch-places.ts';
import { buildReportHtml } from '@gaia-mesh/evaluation/report/report-html.ts';
import type { ArchivedRun } from '@gaia-mesh/evaluation/report/run/archived-run.ts';
import { formatCommand, resolvePage, writeMeasured } from '@gaia-mesh/evaluation/terminal/docs-page.ts';
import { formatJson, printError, printJson, printText } from '@gaia-mesh/evaluation/terminal/print.ts';
import { ProgressBar } from '@gaia-mesh/evaluation/terminal/progress-bar.ts';
import { buildComparisonReport } from '@gaia-mesh/evaluation/watch/finished-report.ts';
import { type Command, Option } from 'commander';
import { EXIT } from '../command-line/exit-code.ts';
import { showInHelp } from '../command-line/help.ts';
import { handleInterrupt } from '../command-line/interruptible.ts';
import {
  collectTexts,
  parseList,
  parsePositiveInteger,
  parsePositiveNumber,
} from '../command-line/option-values.ts';
import { addWatchOptions, openWatch } from '../command-line/watching.ts';
import { planAdapters } from '../compare/adapter-plan.ts';
import type { CompareOptions } from '../compare/compare-options.ts';
import { parseDemands, settle } from '../compare/compare-outcome.ts';

export function defineCompare(command: Command): void {
  showInHelp(command, [
    'adapters',
    'stacks',
    'recording',
    'teams',
    'engines',
    'budget',
    'invocations',
    'fail-if',
    'junit',
    'summary',
    'baseline',
    'save-baseline',
    'out',
    'watch',
    'json',
  ]);
  addWatchOptions(command)
    .option(
      '--adapters <names>',
      'compare these protocols, baseline first, e.g. json,a2a (default: all)',
      parseList,
    )
    .option(
      '--stacks <names>',
      'compare protocols on real transports, e.g. mesh/json,a2a/jsonrpc,mcp/http (or all)',
      parseList,
    )
    .addOption(
      new Option('--bindings <names>', 'use --stacks, the new name of this option')
        .argParser(parseList)
        .hideHelp(),
    )
    .option('--implementation <names>', 'measure stacks by sdk, bare or both (default: both)', parseList)
    .option('--factor <name=levels...>', 'vary a setting of stacks, e.g. tls=on,off size=64,4096')
    .option('--rate <n>', 'send this many exchanges a second through stacks', parsePositiveNumber, 200)
    .option('--recording <file>', "replay a run's archive or an imported file")
    .option('--teams <names>', 'record a run of each of these teams first', parseList)
    .option('--engines <names>', 'record those runs on each of these engines', parseList)
    .option('--tool <[which=]file>', 'record those runs with your tool (repeatable)', collectTexts)
    .option('--agents <numbers>', 'replay to this many agents, e.g. 4,16,64', parseList)
    .option('--budget <seconds>', 'stop after this time (default: 75; more for stacks)', parsePositiveNumber)
    .option(
      '--invocations <n>',
      'start this many fresh processes (5 for a verdict)',
      parsePositiveInteger,
      10,
    )
    .option('--rounds <n>', 'sample each process this many times (3 for a verdict)', parsePositiveInteger, 3)
    .option('--margin <percent>', 'count differences up to this as equal', parsePositiveNumber, 5)
    .option('--seed <n>', 'set the seed of order and bootstrap', parsePositiveInteger, 1)
    .option('--fail-if <condition...>', "exit with 1 if true, e.g. 'a2a.bytes > 2.5x json'")
    .option('--junit <file>', 'write the conditions as a JUnit report')
    .option('--summary <file>', 'write a Markdown summary for pull requests')
    .option('--save-baseline <file>', 'save this comparison as a baseline')
    .option('--baseline <file>', "compare with a saved baseline, for --fail-if '… 1.1x saved'")
    .option('--out <dir>', 'write results to this folder (default: the project root)')
    .option('--write', 'write the results to docs/results (in a checkout)')
    .option('--max-agents <n>', 'refuse recordings with more agents', parsePositiveInteger, 64)
    .option('--json', 'print the comparison as JSON')
    .action(run);
}

/** The measurements as they were taken, of all invocations so far. */
const MEASURED_FILE = 'comparison.measured.json';

/** Compares adapters or stacks: the plan decides about the arms, and everything else is the same. */
async function run(given: CompareOptions & { readonly bindings?: readonly string[] }): Promise<void> {
  const { bindings, stacks = bindings, ...others } = given;
  const options: CompareOptions = { ...others, stacks };
  const demands = parseDemands(options);
  const plan = stacks === undefined ? await planAdapters(options) : await planStacks(stacks, options);
  const page = options.write ? resolvePage(plan.page) : undefined;
  const out = chooseResultFolder(options.out);
  // The folder is checked first, since the comparison takes minutes.
  checkWritable(out);
  const { signal } = handleInterrupt();
  const watch = await openWatch(options, 'compare');
  try {
    const command = formatCommand(process.argv.slice(2));
    const invocations: unknown[] = [];
    // Runs that are recorded first have the terminal for themselves.
    let started: Promise<ProgressBar> | undefined;
    const onBar = (use: (bar: ProgressBar) => void) => {
      started ??= ProgressBar.start(100, '% done');
      void started.then(use);
    };
    const { report, runs } = await plan
      .compare({
        feed: watch?.feed,
        command,
        random: new Random(options.seed),
        onProgress: (share, what) => {
          onBar((bar) => bar.at(100 * share, what));
          watch?.feed.add({ event: 'progress', share: Math.min(1, share), text: what });
        },
        onMeasured: (measured) => {
          // Figures are derived from these afterwards; whatever happens then, they are kept.
          invocations.push(...measured);
          writeWhole(path.join(out, MEASURED_FILE), formatJson({ command, invocations }));
        },
        onNote: (note) => {
          onBar((bar) => bar.note(note));
          watch?.note(note);
        },
        signal,
      })
      .finally(async () => (await started)?.end());
    await writeAll(report, runs, out);
    if (options.json) printJson(report);
    else printText(`${formatComparison(report)}\n`);
    if (report.failed.length > 0) process.exitCode = EXIT.failed;
    settle(report, demands, options);
    if (signal.aborted) {
      process.exitCode = EXIT.interrupted;
      return;
    }
    if (page !== undefined) await writeMeasured(page, process.argv.slice(2), buildComparisonPart(report));
    await watch?.end('compared', signal, () => buildComparisonReport(path.join(out, 'comparison.json')));
  } finally {
    await watch?.close();
  }
}

async function planStacks(names: readonly string[], options: CompareOptions) {
  // Only comparisons of stacks load them.
  const stacks = await import('../compare/stack-plan.ts');
  return stacks.planStacks(names, options);
}

/** Writes the comparison in all formats, with the runs that were recorded for it. */
async function writeAll(report: ComparisonFile, runs: readonly ArchivedRun[], out: string): Promise<void> {
  writeWhole(path.join(out, 'comparison.json'), formatJson(report));
  writeWhole(path.join(out, 'comparison.csv'), formatComparisonCsv(report));
  writeWhole(path.join(out, 'comparison.md'), formatComparisonMarkdown(report));
  writeWhole(path.join(out, 'comparison.html'), await buildReportHtml({ comparison: report, runs }));
  const matrix = formatMatrixCsv(report);
  if (matrix !== undefined) writeWhole(path.join(out, 'matrix.csv'), matrix);
  printError(`written: comparison.html, comparison.json, comparison.csv and comparison.md in ${out}`);
}
