import path from 'node:path';
import { describeEnvironment } from '@gaia-mesh/core/run/manifest.ts';
import { checkWritable, writeWhole } from '@gaia-mesh/core/system/files/whole-file.ts';
import { Random } from '@gaia-mesh/core/system/random.ts';
import type { ComparisonFile } from '@gaia-mesh/evaluation/compare/comparison-file.ts';
import {
  buildComparisonPart,
  buildTables,
  formatComparison,
  formatComparisonMarkdown,
} from '@gaia-mesh/evaluation/compare/comparison-table.ts';
import { chooseResultFolder } from '@gaia-mesh/evaluation/plan/batch-places.ts';
import { describeMaking } from '@gaia-mesh/evaluation/plan/making.ts';
import { fillPage } from '@gaia-mesh/evaluation/report/page-html.ts';
import { resolvePage, writeMeasured } from '@gaia-mesh/evaluation/terminal/docs-page.ts';
import { formatJson, printError, printJson, printText } from '@gaia-mesh/evaluation/terminal/print.ts';
import { ProgressBar } from '@gaia-mesh/evaluation/terminal/progress-bar.ts';
import type { Command } from 'commander';
import { EXIT } from '../command-line/exit-code.ts';
import { handleInterrupt } from '../command-line/interruptible.ts';
import { defineOptions } from '../command-line/options.ts';
import { openWatch } from '../command-line/watching.ts';
import { planAdapters } from '../compare/adapter-plan.ts';
import { type CompareOptions, compareTable } from '../compare/compare-options.ts';
import { parseDemands } from '../compare/demands.ts';

export function defineCompare(command: Command): void {
  defineOptions(command, compareTable, run);
}

/** Compares adapters or stacks: the plan decides about the arms, and everything else is the same. */
async function run(given: CompareOptions): Promise<void> {
  const { bindings, stacks = bindings } = given;
  const options: CompareOptions = { ...given, stacks };
  const plan = stacks === undefined ? await planAdapters(options) : await planStacks(stacks, options);
  const settle = parseDemands(options, plan.arms, {
    ...plan.facts,
    environment: describeEnvironment(),
  });
  const page = options.write ? resolvePage(plan.page) : undefined;
  const out = chooseResultFolder(options.out);
  // The folder is checked first, since the comparison takes minutes.
  checkWritable(out);
  const { signal } = handleInterrupt();
  const watch = await openWatch(options, 'compare');
  try {
    const { command } = describeMaking();
    // A run that is recorded first shows its own progress, so that the bar starts after it.
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
    try {
      writeAll(report, out);
    } finally {
      // The result of minutes is shown even if the disk has no room for it.
      if (options.json) printJson(report);
      else printText(`${formatComparison(report)}\n`);
    }
    if (report.failed.length > 0) process.exitCode = EXIT.failed;
    settle(report);
    if (signal.aborted) {
      process.exitCode = EXIT.interrupted;
      return;
    }
    if (page !== undefined) await writeMeasured(page, buildComparisonPart(report));
    await watch?.end('compared', signal, { kind: 'comparison', file: path.join(out, 'comparison.json') });
  } finally {
    await watch?.close();
  }
}

async function planStacks(names: readonly string[], options: CompareOptions) {
  // The modules of stacks are loaded only for comparisons of stacks.
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
