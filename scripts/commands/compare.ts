import path from 'node:path';
import type { ProtocolAdapter } from '@gaia-mesh/core/contracts/adapter.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { isArchive, readRecording } from '@gaia-mesh/core/recording/read-archive.ts';
import { caveatsOf } from '@gaia-mesh/core/recording/recording.ts';
import { checkWritable, writeWhole } from '@gaia-mesh/core/system/files/whole-file.ts';
import { outFolder, userPath } from '@gaia-mesh/core/system/user-paths.ts';
import { comparedAdapters } from '@gaia-mesh/evaluation/compare/compared-adapters.ts';
import {
  type ComparisonFile,
  hasMatrix,
  readComparison,
} from '@gaia-mesh/evaluation/compare/comparison-file.ts';
import { comparisonMarkdown, comparisonText } from '@gaia-mesh/evaluation/compare/comparison-table.ts';
import { adaptersCsv, matrixCsv } from '@gaia-mesh/evaluation/compare/csv.ts';
import { measure } from '@gaia-mesh/evaluation/compare/measure.ts';
import { comparisonPart } from '@gaia-mesh/evaluation/compare/results-page.ts';
import { type Scenario, type ScenarioChoice, scenariosOf } from '@gaia-mesh/evaluation/compare/scenario.ts';
import { reportHtml } from '@gaia-mesh/evaluation/report/report-html.ts';
import { readArchivedRun } from '@gaia-mesh/evaluation/report/run/archived-run.ts';
import { chosenAdapters } from '@gaia-mesh/evaluation/teams/user-options.ts';
import { commandOf, pageToWrite, writeMeasured } from '@gaia-mesh/evaluation/terminal/docs-page.ts';
import { complain, jsonText, print, printJson } from '@gaia-mesh/evaluation/terminal/print.ts';
import { comparisonEvents } from '@gaia-mesh/evaluation/watch/comparison-events.ts';
import { reportOfComparison } from '@gaia-mesh/evaluation/watch/finished-report.ts';
import type { Watch } from '@gaia-mesh/evaluation/watch/watch.ts';
import { adapterNames } from '@gaia-mesh/protocols/registry.ts';
import { type Command, Option } from 'commander';
import { INTERRUPTED_EXIT } from '../command-line/exit-code.ts';
import { showInHelp } from '../command-line/help.ts';
import { interruptible } from '../command-line/interruptible.ts';
import { listOf, positiveInteger, positiveNumber, severalOf } from '../command-line/option-values.ts';
import { inTemporaryFolder } from '../command-line/temporary-folder.ts';
import { watchOf, watchOptions } from '../command-line/watching.ts';
import { type CompareOptions, checkTogether } from '../compare/compare-options.ts';
import { demandsOf, settle } from '../compare/compare-outcome.ts';

export function compare(command: Command): void {
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
  watchOptions(command)
    .option(
      '--adapters <names>',
      'compare these protocols, baseline first, e.g. json,a2a (default: all)',
      listOf,
    )
    .option(
      '--stacks <names>',
      'compare protocols on real transports, e.g. mesh/json,a2a/jsonrpc,mcp/http (or all)',
      listOf,
    )
    .addOption(
      new Option('--bindings <names>', 'use --stacks, the new name of this option')
        .argParser(listOf)
        .hideHelp(),
    )
    .option('--implementation <names>', 'measure stacks by sdk, bare or both (default: both)', listOf)
    .option('--factor <name=levels...>', 'vary a setting of stacks, e.g. tls=on,off size=64,4096')
    .option('--rate <n>', 'send this many exchanges a second through stacks', positiveNumber, 200)
    .option('--recording <file>', "replay a run's archive or an imported file")
    .option('--teams <names>', 'record a run of each of these teams first', listOf)
    .option('--engines <names>', 'record those runs on each of these engines', listOf)
    .option('--tool <[which=]file>', 'record those runs with your tool (repeatable)', severalOf)
    .option('--agents <numbers>', 'replay to this many agents, e.g. 4,16,64', listOf)
    .option('--budget <seconds>', 'stop after this time (default: 75; more for stacks)', positiveNumber)
    .option('--invocations <n>', 'start this many fresh processes (5 for a verdict)', positiveInteger, 10)
    .option('--rounds <n>', 'sample each process this many times (3 for a verdict)', positiveInteger, 3)
    .option('--margin <percent>', 'count differences up to this as equal', positiveNumber, 5)
    .option('--seed <n>', 'set the seed of order and bootstrap', positiveInteger, 1)
    .option('--fail-if <condition...>', "exit with 1 if true, e.g. 'a2a.bytes > 2.5x json'")
    .option('--junit <file>', 'write the conditions as a JUnit report')
    .option('--summary <file>', 'write a Markdown summary for pull requests')
    .option('--save-baseline <file>', 'save this comparison as a baseline')
    .option('--baseline <file>', "compare with a saved baseline, for --fail-if '… 1.1x saved'")
    .option('--out <dir>', 'write results to this folder (default: the project root)')
    .option('--write', 'write the results to docs/results (in a checkout)')
    .option('--max-agents <n>', 'refuse recordings with more agents', positiveInteger, 64)
    .option('--json', 'print the comparison as JSON')
    .action(run);
}

const DEFAULT_BUDGET_S = 75;

/** Compares adapters on the same recorded packets: those of one run, or of every run of a matrix. */
async function run(given: CompareOptions & { readonly bindings?: readonly string[] }): Promise<void> {
  const { bindings, stacks = bindings, ...others } = given;
  const options: CompareOptions = { ...others, stacks };
  checkTogether(options);
  if (stacks !== undefined) {
    const { compareStacks } = await import('../compare/compare-stacks.ts');
    return compareStacks(stacks, options);
  }
  const demands = demandsOf(options, (file) => comparedAdapters(readComparison(file)));
  const names = options.adapters ?? adapterNames;
  if (names.length === 0) throw new MeshError('usage', '--adapters: expected a name, e.g. json,msgpack');
  const choice = choiceOf(options);
  const page = options.write ? pageToWrite('docs/results/comparison.md') : undefined;
  const adapters = await chosenAdapters(names);
  // Before the minutes that the rounds take.
  checkWritable(outFolder(options.out));
  const { signal } = interruptible();
  const watch = await watchOf(options, 'compare');
  try {
    await inTemporaryFolder('compare', async (folder) => {
      const scenarios = await scenariosOf(choice, folder, signal);
      const reports: ComparisonFile[] = [];
      for (const [index, scenario] of scenarios.entries()) {
        if (signal.aborted && reports.length > 0) break;
        if (scenarios.length > 1) complain(`run ${index + 1} of ${scenarios.length}`);
        const workspaces = path.join(folder, `replay-${index}`);
        reports.push(
          await compareOne(scenario, adapters, options, { workspaces, signal, watch, of: scenarios.length }),
        );
      }
      const [first] = reports;
      if (first === undefined) throw new Error('there was nothing to compare');
      const command = commandOf(process.argv.slice(2));
      const report = { ...first, command, matrix: reports.flatMap(({ matrix }) => matrix) };
      write(report, options);
      if (options.json) printJson(report);
      else print(comparisonText(report));
      await writePage(report, scenarios, options);
      settle(comparedAdapters(report), demands, options, jsonText(report));
      if (signal.aborted) {
        process.exitCode = INTERRUPTED_EXIT;
        return;
      }
      if (page !== undefined) await writeMeasured(page, process.argv.slice(2), comparisonPart(report));
      const written = path.join(outFolder(options.out), 'comparison.json');
      await watch?.end('compared', signal, () => reportOfComparison(written));
    });
  } finally {
    await watch?.close();
  }
}

/** Far more processes than two cores can serve; a typing error must not start thousands. */
const MAX_AGENTS = 256;

/** @throws MeshError `usage` for options that do not go together, or numbers of agents that are none */
function choiceOf({ recording, teams, engines, tool, agents }: CompareOptions): ScenarioChoice {
  if (recording !== undefined && [teams, engines, tool].some((option) => option !== undefined)) {
    throw new MeshError(
      'usage',
      '--recording is a run that was made: it goes with none of --teams, --engines and --tool',
    );
  }
  const counts = (agents ?? []).map((item) => {
    const number = Number(item);
    if (Number.isInteger(number) && number >= 1 && number <= MAX_AGENTS) return number;
    const expected = `numbers from 1 to ${MAX_AGENTS}, e.g. 4,16,64`;
    throw new MeshError('usage', `--agents: expected ${expected}, not "${item}"`);
  });
  return {
    recording: recording === undefined ? undefined : userPath(recording),
    teams: teams ?? [],
    engines: engines ?? [],
    tools: tool ?? [],
    agents: counts,
  };
}

interface Surroundings {
  readonly workspaces: string;
  readonly signal: AbortSignal;
  readonly watch: Watch | undefined;
  /** Runs that the budget is for. */
  readonly of: number;
}

/** The budget is for all runs together. */
async function compareOne(
  { archive, agents }: Scenario,
  adapters: readonly ProtocolAdapter[],
  { budget = DEFAULT_BUDGET_S, invocations, rounds, margin, seed, maxAgents }: CompareOptions,
  { workspaces, signal, watch, of }: Surroundings,
): Promise<ComparisonFile> {
  const [first, ...rest] = adapters;
  if (first === undefined) throw new Error('no adapter was chosen');
  const recorded = await readRecording(archive);
  for (const caveat of caveatsOf(recorded)) complain(caveat);
  return measure(recorded, {
    adapters: [first, ...rest],
    agents,
    design: { invocations, rounds, budgetMs: (budget * 1000) / of },
    margin: margin / 100,
    maxAgents,
    seed,
    workspaces,
    signal,
    ...(watch === undefined
      ? {}
      : {
          onInvocation: comparisonEvents(
            watch.feed,
            recorded,
            adapters.map(({ name }) => name),
          ),
        }),
  });
}

function write(report: ComparisonFile, options: CompareOptions): void {
  const out = outFolder(options.out);
  writeWhole(path.join(out, 'comparison.json'), jsonText(report));
  writeWhole(path.join(out, 'comparison.csv'), adaptersCsv(report));
  writeWhole(path.join(out, 'comparison.md'), comparisonMarkdown(report));
  if (hasMatrix(report)) writeWhole(path.join(out, 'matrix.csv'), matrixCsv(report));
  complain(`written: comparison.json, comparison.csv and comparison.md in ${out}`);
}

/** The comparison and the runs that were recorded for it, as a page. */
async function writePage(
  report: ComparisonFile,
  scenarios: readonly Scenario[],
  options: CompareOptions,
): Promise<void> {
  // A recording by itself is no run: there are neither metrics nor answers to show.
  const archives = new Set(scenarios.map(({ archive }) => archive).filter(isArchive));
  const runs = await Promise.all([...archives].map((archive) => readArchivedRun(archive)));
  const html = await reportHtml({ comparison: report, runs });
  const file = path.join(outFolder(options.out), 'comparison.html');
  writeWhole(file, html);
  complain(`written: ${file}`);
}
