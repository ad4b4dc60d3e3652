import path from 'node:path';
import type { ProtocolAdapter } from '@gaia-mesh/core/contracts/adapter.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { isArchive, readRecording } from '@gaia-mesh/core/recording/read-archive.ts';
import { listCaveats } from '@gaia-mesh/core/recording/recording.ts';
import { resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';
import { sampleAdapter } from '@gaia-mesh/evaluation/compare/adapters/adapter-arms.ts';
import { measure } from '@gaia-mesh/evaluation/compare/adapters/measure.ts';
import { listScenarios } from '@gaia-mesh/evaluation/compare/adapters/scenario.ts';
import type { AdaptersComparison } from '@gaia-mesh/evaluation/compare/comparison-file.ts';
import { readArchivedRun } from '@gaia-mesh/evaluation/report/run/archived-run.ts';
import { loadChosenAdapters } from '@gaia-mesh/evaluation/teams/user-options.ts';
import { printError } from '@gaia-mesh/evaluation/terminal/print.ts';
import { createComparisonListener } from '@gaia-mesh/evaluation/watch/comparison-events.ts';
import { adapterNames } from '@gaia-mesh/protocols/registry.ts';
import { useTemporaryFolder } from '../command-line/temporary-folder.ts';
import type { CompareOptions, ComparisonPlan, RunContext } from './compare-options.ts';

const DEFAULT_BUDGET_S = 75;

/** Plans a comparison of adapters on the same recorded packets: those of one run, or of every run of a matrix. */
export async function planAdapters(options: CompareOptions): Promise<ComparisonPlan> {
  const names = options.adapters ?? adapterNames;
  if (names.length === 0) throw new MeshError('usage', '--adapters: expected a name, e.g. json,msgpack');
  const choice = toScenarioChoice(options);
  const adapters = await loadChosenAdapters(names);
  return {
    page: 'docs/results/comparison.md',
    arms: adapters,
    compare: (context) =>
      useTemporaryFolder('compare', async (folder) => {
        const scenarios = await listScenarios(choice, folder, context.signal);
        const reports: AdaptersComparison[] = [];
        for (const [index, scenario] of scenarios.entries()) {
          if (context.signal.aborted && reports.length > 0) break;
          if (scenarios.length > 1) printError(`run ${index + 1} of ${scenarios.length}`);
          const budgetMs = ((options.budget ?? DEFAULT_BUDGET_S) * 1000) / scenarios.length;
          const workspaces = path.join(folder, `replay-${index}`);
          const onProgress: RunContext['onProgress'] = (share, what) =>
            context.onProgress((index + share) / scenarios.length, what);
          const own = { ...context, onProgress, budgetMs, workspaces };
          reports.push(await compareOne(scenario, adapters, options, own));
        }
        const [first] = reports;
        if (first === undefined) throw new Error('there was nothing to compare');
        // A recording alone has neither metrics nor answers to show.
        const archives = new Set(scenarios.map(({ archive }) => archive).filter(isArchive));
        return {
          report: { ...first, command: context.command, matrix: reports.flatMap(({ matrix }) => matrix) },
          runs: await Promise.all([...archives].map((archive) => readArchivedRun(archive))),
        };
      }),
  };
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

type Scenario = Awaited<ReturnType<typeof listScenarios>>[number];

/** Compares adapters on one scenario. All runs share the budget. */
async function compareOne(
  { archive, agents }: Scenario,
  adapters: readonly ProtocolAdapter[],
  { invocations, rounds, margin, seed, maxAgents }: CompareOptions,
  context: RunContext & { readonly budgetMs: number; readonly workspaces: string },
): Promise<AdaptersComparison> {
  const [first, ...rest] = adapters;
  if (first === undefined) throw new Error('no adapter was chosen');
  const { feed, budgetMs } = context;
  const recorded = await readRecording(archive);
  for (const caveat of listCaveats(recorded)) printError(caveat);
  return measure(recorded, {
    ...context,
    adapters: [first, ...rest],
    agents,
    design: { invocations, rounds, budgetMs },
    margin: margin / 100,
    maxAgents,
    seed,
    onBlock: createComparisonListener(
      feed,
      recorded,
      adapters.map(({ name }) => ({ name, sample: sampleAdapter })),
    ),
  });
}
