import path from 'node:path';
import type { ProtocolAdapter } from '@gaia-mesh/core/contracts/adapter.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { isArchive, readRecording } from '@gaia-mesh/core/recording/read-archive.ts';
import { listCaveats } from '@gaia-mesh/core/recording/recording.ts';
import { checkWritable, writeWhole } from '@gaia-mesh/core/system/files/whole-file.ts';
import { resolveOutFolder, resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';
import { toComparedAdapters } from '@gaia-mesh/evaluation/compare/compared-adapters.ts';
import {
  type ComparisonFile,
  hasMatrix,
  readComparison,
} from '@gaia-mesh/evaluation/compare/comparison-file.ts';
import {
  formatComparison,
  formatComparisonMarkdown,
} from '@gaia-mesh/evaluation/compare/comparison-table.ts';
import { formatAdaptersCsv, formatMatrixCsv } from '@gaia-mesh/evaluation/compare/csv.ts';
import { measure } from '@gaia-mesh/evaluation/compare/measure.ts';
import { buildComparisonPart } from '@gaia-mesh/evaluation/compare/results-page.ts';
import { listScenarios } from '@gaia-mesh/evaluation/compare/scenario.ts';
import { chooseResultFolder } from '@gaia-mesh/evaluation/plan/batch-places.ts';
import { buildReportHtml } from '@gaia-mesh/evaluation/report/report-html.ts';
import { readArchivedRun } from '@gaia-mesh/evaluation/report/run/archived-run.ts';
import { loadChosenAdapters } from '@gaia-mesh/evaluation/teams/user-options.ts';
import { formatCommand, resolvePage, writeMeasured } from '@gaia-mesh/evaluation/terminal/docs-page.ts';
import { formatJson, printError, printJson, printText } from '@gaia-mesh/evaluation/terminal/print.ts';
import { createComparisonFeed } from '@gaia-mesh/evaluation/watch/comparison-events.ts';
import { buildComparisonReport } from '@gaia-mesh/evaluation/watch/finished-report.ts';
import type { Watch } from '@gaia-mesh/evaluation/watch/watch.ts';
import { adapterNames } from '@gaia-mesh/protocols/registry.ts';
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
import { useTemporaryFolder } from '../command-line/temporary-folder.ts';
import { addWatchOptions, openWatch } from '../command-line/watching.ts';
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

const DEFAULT_BUDGET_S = 75;

/** Compares adapters on the same recorded packets: those of one run, or of every run of a matrix. */
async function run(given: CompareOptions & { readonly bindings?: readonly string[] }): Promise<void> {
  const { bindings, stacks = bindings, ...others } = given;
  const options: CompareOptions = { ...others, stacks };
  if (stacks !== undefined) {
    const { compareStacks } = await import('../compare/compare-stacks.ts');
    return compareStacks(stacks, options);
  }
  const demands = parseDemands(options, (file) => toComparedAdapters(readComparison(file)));
  const names = options.adapters ?? adapterNames;
  if (names.length === 0) throw new MeshError('usage', '--adapters: expected a name, e.g. json,msgpack');
  const choice = toScenarioChoice(options);
  const page = options.write ? resolvePage('docs/results/comparison.md') : undefined;
  const adapters = await loadChosenAdapters(names);
  // The folder is checked first, since the rounds take minutes.
  checkWritable(chooseResultFolder(options.out));
  const { signal } = handleInterrupt();
  const watch = await openWatch(options, 'compare');
  try {
    await useTemporaryFolder('compare', async (folder) => {
      const scenarios = await listScenarios(choice, folder, signal);
      const reports: ComparisonFile[] = [];
      for (const [index, scenario] of scenarios.entries()) {
        if (signal.aborted && reports.length > 0) break;
        if (scenarios.length > 1) printError(`run ${index + 1} of ${scenarios.length}`);
        const workspaces = path.join(folder, `replay-${index}`);
        reports.push(
          await compareOne(scenario, adapters, options, { workspaces, signal, watch, of: scenarios.length }),
        );
      }
      const [first] = reports;
      if (first === undefined) throw new Error('there was nothing to compare');
      const command = formatCommand(process.argv.slice(2));
      const report = { ...first, command, matrix: reports.flatMap(({ matrix }) => matrix) };
      write(report, options);
      if (options.json) printJson(report);
      else printText(`${formatComparison(report)}\n`);
      await writePage(report, scenarios, options);
      if (report.failed.length > 0) process.exitCode = EXIT.failed;
      settle(toComparedAdapters(report), demands, options, formatJson(report));
      if (signal.aborted) {
        process.exitCode = EXIT.interrupted;
        return;
      }
      if (page !== undefined) await writeMeasured(page, process.argv.slice(2), buildComparisonPart(report));
      const written = path.join(resolveOutFolder(options.out), 'comparison.json');
      await watch?.end('compared', signal, () => buildComparisonReport(written));
    });
  } finally {
    await watch?.close();
  }
}

/** Maximum number of agents, far more processes than two cores can serve: a typing error must not start thousands. */
const MAX_AGENTS = 256;

/**
 * Parses the choice of scenarios.
 *
 * @throws MeshError `usage` for invalid numbers of agents
 */
function toScenarioChoice({
  recording,
  teams,
  engines,
  tool,
  agents,
}: CompareOptions): Parameters<typeof listScenarios>[0] {
  const counts = (agents ?? []).map((item) => {
    const number = Number(item);
    if (Number.isInteger(number) && number >= 1 && number <= MAX_AGENTS) return number;
    const expected = `numbers from 1 to ${MAX_AGENTS}, e.g. 4,16,64`;
    throw new MeshError('usage', `--agents: expected ${expected}, not "${item}"`);
  });
  return {
    recording: recording === undefined ? undefined : resolveUserPath(recording),
    teams: teams ?? [],
    engines: engines ?? [],
    tools: tool ?? [],
    agents: counts,
  };
}

interface RunContext {
  readonly workspaces: string;
  readonly signal: AbortSignal;
  readonly watch: Watch | undefined;
  /** Number of runs that share the budget. */
  readonly of: number;
}

type Scenario = Awaited<ReturnType<typeof listScenarios>>[number];

/** Compares adapters on one scenario. All runs share the budget. */
async function compareOne(
  { archive, agents }: Scenario,
  adapters: readonly ProtocolAdapter[],
  { budget = DEFAULT_BUDGET_S, invocations, rounds, margin, seed, maxAgents }: CompareOptions,
  { workspaces, signal, watch, of }: RunContext,
): Promise<ComparisonFile> {
  const [first, ...rest] = adapters;
  if (first === undefined) throw new Error('no adapter was chosen');
  const recorded = await readRecording(archive);
  for (const caveat of listCaveats(recorded)) printError(caveat);
  return measure(recorded, {
    adapters: [first, ...rest],
    agents,
    design: { invocations, rounds, budgetMs: (budget * 1000) / of },
    margin: margin / 100,
    maxAgents,
    seed,
    workspaces,
    signal,
    onProgress: (share, text) => watch?.feed.add({ event: 'progress', share, text }),
    onBlock:
      watch === undefined
        ? undefined
        : createComparisonFeed(
            watch.feed,
            recorded,
            adapters.map(({ name }) => name),
          ),
  });
}

function write(report: ComparisonFile, options: CompareOptions): void {
  const out = resolveOutFolder(options.out);
  writeWhole(path.join(out, 'comparison.json'), formatJson(report));
  writeWhole(path.join(out, 'comparison.csv'), formatAdaptersCsv(report));
  writeWhole(path.join(out, 'comparison.md'), formatComparisonMarkdown(report));
  if (hasMatrix(report)) writeWhole(path.join(out, 'matrix.csv'), formatMatrixCsv(report));
  printError(`written: comparison.json, comparison.csv and comparison.md in ${out}`);
}

/** Writes the comparison and the runs that were recorded for it as a page. */
async function writePage(
  report: ComparisonFile,
  scenarios: readonly Scenario[],
  options: CompareOptions,
): Promise<void> {
  // A recording alone has neither metrics nor answers to show.
  const archives = new Set(scenarios.map(({ archive }) => archive).filter(isArchive));
  const runs = await Promise.all([...archives].map((archive) => readArchivedRun(archive)));
  const html = await buildReportHtml({ comparison: report, runs });
  const file = path.join(resolveOutFolder(options.out), 'comparison.html');
  writeWhole(file, html);
  printError(`written: ${file}`);
}
