import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { readRecording } from '@gaia-mesh/core/recording/read-archive.ts';
import { listCaveats, type Recording } from '@gaia-mesh/core/recording/recording.ts';
import { checkWritable, writeWhole } from '@gaia-mesh/core/system/files/whole-file.ts';
import { Random } from '@gaia-mesh/core/system/random.ts';
import { resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';
import { readComparisonText } from '@gaia-mesh/evaluation/compare/comparison-file.ts';
import { Experiment, type MeasuredInvocation } from '@gaia-mesh/evaluation/compare/experiment.ts';
import { defaultRecording } from '@gaia-mesh/evaluation/compare/scenario.ts';
import { type Arm, combineArms } from '@gaia-mesh/evaluation/compare/stacks/arms.ts';
import { chooseStacks } from '@gaia-mesh/evaluation/compare/stacks/chosen-stacks.ts';
import { parseFactors } from '@gaia-mesh/evaluation/compare/stacks/factors.ts';
import { toComparedStacks } from '@gaia-mesh/evaluation/compare/stacks/figures/compared-stacks.ts';
import { formatStacksCsv } from '@gaia-mesh/evaluation/compare/stacks/figures/stacks-csv.ts';
import { parseStacks, type StacksFile } from '@gaia-mesh/evaluation/compare/stacks/figures/stacks-file.ts';
import {
  formatStacksMarkdown,
  formatStacksPart,
} from '@gaia-mesh/evaluation/compare/stacks/figures/stacks-markdown.ts';
import { reportStacks } from '@gaia-mesh/evaluation/compare/stacks/figures/stacks-report.ts';
import { formatStacks } from '@gaia-mesh/evaluation/compare/stacks/figures/stacks-table.ts';
import { countTokenFigures } from '@gaia-mesh/evaluation/compare/stacks/figures/token-figures.ts';
import type { Invocation } from '@gaia-mesh/evaluation/compare/stacks/invocation.ts';
import { StackArms } from '@gaia-mesh/evaluation/compare/stacks/stack-arms.ts';
import {
  buildRecordedWorkload,
  buildSyntheticWorkload,
} from '@gaia-mesh/evaluation/compare/stacks/workload.ts';
import { chooseResultFolder } from '@gaia-mesh/evaluation/plan/batch-places.ts';
import { buildReportHtml } from '@gaia-mesh/evaluation/report/report-html.ts';
import { formatCommand, resolvePage, writeMeasured } from '@gaia-mesh/evaluation/terminal/docs-page.ts';
import { formatJson, printError, printJson, printText } from '@gaia-mesh/evaluation/terminal/print.ts';
import { ProgressBar } from '@gaia-mesh/evaluation/terminal/progress-bar.ts';
import { createStackListener } from '@gaia-mesh/evaluation/watch/comparison-events.ts';
import { buildComparisonReport } from '@gaia-mesh/evaluation/watch/finished-report.ts';
import { createSelfSigned } from '@gaia-mesh/stacks/self-signed.ts';
import { dataTools } from '@gaia-mesh/tools/data-tools.ts';
import { buildToolDefinitions } from '@gaia-mesh/tools/tool-definitions.ts';
import { EXIT } from '../command-line/exit-code.ts';
import { handleInterrupt } from '../command-line/interruptible.ts';
import { openWatch } from '../command-line/watching.ts';
import type { CompareOptions } from './compare-options.ts';
import { parseDemands, settle } from './compare-outcome.ts';

/**
 * Seconds for five fresh pairs of processes of each arm, and twice as many of the baseline; at most ten minutes in all.
 */
const BUDGET_S = { each: 18, most: 540 };

/** The measurements as they were taken, of all invocations so far. */
const MEASURED_FILE = 'stacks.measured.json';

/** Compares stacks: the same exchanges pass through each, with every end in a process of its own. */
export async function compareStacks(names: readonly string[], options: CompareOptions): Promise<void> {
  const { seed } = options;
  const demands = parseDemands(options, (file) =>
    toComparedStacks(parseStacks(readComparisonText(file), `--baseline ${file}`)),
  );
  const factors = parseFactors(options.factor ?? []);
  const implementations = parseImplementations(options.implementation);
  const { chosen, leftOut } = await chooseStacks({ names, implementations });
  const { arms, leftOut: lacking } = combineArms(chosen, factors);
  const [baseline, ...others] = arms;
  if (baseline === undefined) {
    throw new MeshError(
      'usage',
      `--stacks: nothing is left to measure: ${[...leftOut, ...lacking].join('; ')}`,
    );
  }
  const page = options.write ? resolvePage('docs/results/stacks.md') : undefined;
  const out = chooseResultFolder(options.out);
  // The folder is checked first, since the comparison takes minutes.
  checkWritable(out);
  const identity = arms.some(({ settings }) => settings.tls) ? await createSelfSigned() : null;
  if (identity === null && arms.some(({ settings }) => settings.tls)) {
    throw new MeshError('usage', '--factor tls=on: openssl, which makes the certificate, is not installed');
  }
  const recording = await loadRecording(options);
  const traffic = buildRecordedWorkload(recording);
  const exchangesOf = ({ settings: { size } }: Arm) =>
    size === null ? traffic.exchanges : buildSyntheticWorkload(size, seed).exchanges;
  const { signal } = handleInterrupt();
  const watch = await openWatch(options, 'compare');
  try {
    const bar = await ProgressBar.start(100, '% of the time');
    const budget = options.budget ?? Math.min(BUDGET_S.most, BUDGET_S.each * (arms.length + 1));
    const listener =
      watch === undefined ? undefined : createStackListener(watch.feed, recording, arms, exchangesOf);
    const invocations: MeasuredInvocation<Invocation>[] = [];
    const command = formatCommand(process.argv.slice(2));
    const stackArms = new StackArms({
      arms: [baseline, ...others],
      exchangesOf,
      identity,
      concurrency: factors.concurrency,
      ratePerS: options.rate,
      design: { budgetMs: budget * 1000, invocations: options.invocations, rounds: options.rounds },
    });
    const played = await new Experiment({
      ...stackArms.plan(),
      random: new Random(seed),
      onProgress: (share, what) => {
        bar.at(100 * share, what);
        watch?.feed.add({ event: 'progress', share: Math.min(1, share), text: what });
      },
      onMeasured: (invocation) => {
        // Figures are derived from these afterwards; whatever happens then, they are kept.
        invocations.push(...invocation);
        writeWhole(path.join(out, MEASURED_FILE), formatJson({ command, invocations }));
      },
      onBlock: (block) => listener?.(block),
      onNote: (note) => {
        bar.note(note);
        watch?.note(note);
      },
      signal,
    })
      .run()
      .finally(() => bar.end());
    const measured = { ...played, warnings: [...stackArms.warnings, ...played.warnings] };
    const tokens = await countTokenFigures(
      recording,
      {
        tools: await buildToolDefinitions(Object.keys(dataTools).map((tool) => ({ id: tool, tool }))),
        budgetMs: budget * 1000,
      },
      signal,
    );
    if (tokens.not_counted !== undefined)
      printError(
        `tokens: the payloads of ${tokens.not_counted} packets are not counted, which would take too long`,
      );
    const report = reportStacks({
      arms: [baseline, ...others],
      measured,
      concurrency: stackArms.concurrency,
      traffic,
      exchangesOf,
      ratePerS: options.rate,
      seed,
      command,
      tokens,
      leftOut: [...leftOut, ...lacking],
      margin: options.margin / 100,
    });
    await writeAll(report, out);
    if (options.json) printJson(report);
    else printText(`${formatStacks(report)}\n`);
    if (report.failed.length > 0) process.exitCode = EXIT.failed;
    settle(toComparedStacks(report), demands, options, formatJson(report));
    if (signal.aborted) {
      process.exitCode = EXIT.interrupted;
      return;
    }
    if (page !== undefined) await writeMeasured(page, process.argv.slice(2), formatStacksPart(report));
    await watch?.end('compared', signal, () => buildComparisonReport(path.join(out, 'stacks.json')));
  } finally {
    await watch?.close();
  }
}

async function loadRecording({ recording }: CompareOptions): Promise<Recording> {
  if (recording === undefined) return readRecording(defaultRecording);
  const recorded = await readRecording(resolveUserPath(recording));
  for (const caveat of listCaveats(recorded)) printError(caveat);
  return recorded;
}

async function writeAll(report: StacksFile, out: string): Promise<void> {
  writeWhole(path.join(out, 'stacks.json'), formatJson(report));
  writeWhole(path.join(out, 'stacks.csv'), formatStacksCsv(report));
  writeWhole(path.join(out, 'stacks.md'), formatStacksMarkdown(report));
  writeWhole(path.join(out, 'stacks.html'), await buildReportHtml({ stacks: report, runs: [] }));
  printError(`written: stacks.html, stacks.json, stacks.csv and stacks.md in ${out}`);
}

/**
 * Parses the implementations to compare.
 *
 * @throws MeshError `usage` for an unknown one
 */
function parseImplementations(asked: readonly string[] = ['bare', 'sdk']): readonly string[] {
  for (const one of asked) {
    if (one !== 'sdk' && one !== 'bare') {
      throw new MeshError('usage', `--implementation: expected sdk or bare, not "${one}"`);
    }
  }
  return asked;
}
