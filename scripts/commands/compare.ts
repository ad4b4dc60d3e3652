import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { describeEnvironment } from '@gaia-mesh/core/run/manifest.ts';
import { checkWritable, writeWhole } from '@gaia-mesh/core/system/files/whole-file.ts';
import { Random } from '@gaia-mesh/core/system/random.ts';
import { parseNetwork } from '@gaia-mesh/core/transports/network/network.ts';
import { compareAdapters, sampleAdapter } from '@gaia-mesh/evaluation/compare/adapters/compare-adapters.ts';
import type { ComparisonFile } from '@gaia-mesh/evaluation/compare/comparison-file.ts';
import {
  buildComparisonPart,
  buildTables,
  formatComparison,
  formatComparisonMarkdown,
} from '@gaia-mesh/evaluation/compare/comparison-table.ts';
import { loadRecording } from '@gaia-mesh/evaluation/compare/recording.ts';
import { chooseResultFolder } from '@gaia-mesh/evaluation/plan/batch-places.ts';
import { describeMaking } from '@gaia-mesh/evaluation/plan/making.ts';
import { fillPage } from '@gaia-mesh/evaluation/report/page-html.ts';
import { loadChosenAdapters } from '@gaia-mesh/evaluation/teams/user-options.ts';
import { resolvePage, writeMeasured } from '@gaia-mesh/evaluation/terminal/docs-page.ts';
import { formatJson, printError, printJson, printText } from '@gaia-mesh/evaluation/terminal/print.ts';
import { ProgressBar } from '@gaia-mesh/evaluation/terminal/progress-bar.ts';
import { createComparisonListener } from '@gaia-mesh/evaluation/watch/comparison-events.ts';
import { adapterNames } from '@gaia-mesh/protocols/registry.ts';
import type { Command } from 'commander';
import { EXIT } from '../command-line/exit-code.ts';
import { handleInterrupt } from '../command-line/interruptible.ts';
import { defineOptions } from '../command-line/options.ts';
import { useTemporaryFolder } from '../command-line/temporary-folder.ts';
import { openWatch } from '../command-line/watching.ts';
import { type CompareOptions, type ComparisonPlan, compareTable } from '../compare/compare-options.ts';
import { parseDemands } from '../compare/demands.ts';

export function defineCompare(command: Command): void {
  defineOptions(command, compareTable, run);
}

/** Compares adapters or stacks: the plan decides about the arms, and everything else is the same. */
async function run(given: CompareOptions): Promise<void> {
  const { bindings, stacks = bindings } = given;
  const options: CompareOptions = { ...given, stacks };
  // The modules of stacks are loaded only for comparisons of stacks.
  const plan =
    stacks === undefined
      ? await planAdapters(options)
      : await (await import('../compare/stack-plan.ts')).planStacks(stacks, options);
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
    // The result of minutes is shown first, since the disk may have no room for it.
    if (options.json) printJson(report);
    else printText(`${formatComparison(report)}\n`);
    writeAll(report, out);
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

/** Budget of a comparison of adapters; that of stacks depends on their number. */
const DEFAULT_BUDGET_S = 75;

/** Plans a comparison of adapters on the same recorded packets. */
async function planAdapters(options: CompareOptions): Promise<ComparisonPlan> {
  const { invocations, rounds, margin, seed, maxAgents, budget = DEFAULT_BUDGET_S } = options;
  const network = parseNetwork(options.network ?? 'none') ?? null;
  const adapters = await loadChosenAdapters(options.adapters ?? adapterNames);
  const recording = await loadRecording(options.recording);
  const [baseline, ...others] = adapters;
  if (baseline === undefined) throw new MeshError('usage', '--adapters: expected a name, e.g. json,msgpack');
  const arms = [baseline, ...others] as const;
  return {
    page: 'docs/results/comparison.md',
    arms,
    facts: { kind: 'adapters', baseline: baseline.name, run_id: recording.header.run_id, network },
    compare: ({ feed, ...running }) =>
      useTemporaryFolder('compare', async (workspaces) => {
        const design = { invocations, rounds, budgetMs: 1000 * budget };
        const onBlock = createComparisonListener(
          feed,
          recording,
          arms.map(({ name }) => ({ name, sample: sampleAdapter })),
        );
        return compareAdapters(
          recording,
          { arms, design, margin: margin / 100, maxAgents, seed, network, workspaces },
          { ...running, onBlock },
        );
      }),
  };
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
