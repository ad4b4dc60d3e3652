import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { parseNetwork } from '@gaia-mesh/core/transports/network/network.ts';
import { measureAdapters, sampleAdapter } from '@gaia-mesh/evaluation/compare/adapters/compare-adapters.ts';
import { loadRecording } from '@gaia-mesh/evaluation/compare/recording.ts';
import { loadChosenAdapters } from '@gaia-mesh/evaluation/teams/user-options.ts';
import { createComparisonListener } from '@gaia-mesh/evaluation/watch/comparison-events.ts';
import { adapterNames } from '@gaia-mesh/protocols/registry.ts';
import { useTemporaryFolder } from '../command-line/temporary-folder.ts';
import type { CompareOptions, ComparisonPlan } from './compare-options.ts';

const DEFAULT_BUDGET_S = 75;

/** Plans a comparison of adapters on the same recorded packets. */
export async function planAdapters(options: CompareOptions): Promise<ComparisonPlan> {
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
        return measureAdapters(
          recording,
          { arms, design, margin: margin / 100, maxAgents, seed, network, workspaces },
          { ...running, onBlock },
        );
      }),
  };
}
