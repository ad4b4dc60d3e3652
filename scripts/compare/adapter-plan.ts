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
/** Maximum number of agents, far more processes than two cores can serve: a typing error must not start thousands. */
const MAX_AGENTS = 256;

/** Plans a comparison of adapters on the same recorded packets, each with every requested number of agents. */
export async function planAdapters(options: CompareOptions): Promise<ComparisonPlan> {
  const { invocations, rounds, margin, seed, maxAgents, budget = DEFAULT_BUDGET_S } = options;
  const numbers = parseNumbers(options.agents ?? [], maxAgents);
  const network = parseNetwork(options.network ?? 'none') ?? null;
  const adapters = await loadChosenAdapters(options.adapters ?? adapterNames);
  const recording = await loadRecording(options.recording);
  const [baseline, ...others] = (numbers.length > 0 ? numbers : [recording.header.agents.length]).flatMap(
    (agents) =>
      adapters.map((adapter) => {
        const name = numbers.length > 1 ? `${adapter.name} agents=${agents}` : adapter.name;
        return { name, adapter, agents };
      }),
  );
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

/** @throws MeshError `usage` for invalid numbers of agents */
function parseNumbers(numbers: readonly string[], most: number): number[] {
  return numbers.map((item) => {
    const number = Number(item);
    if (Number.isInteger(number) && number > most && number <= MAX_AGENTS)
      throw new MeshError('usage', `--agents ${item}: expected at most ${most}, or a larger --max-agents`);
    if (Number.isInteger(number) && number >= 1 && number <= MAX_AGENTS) return number;
    const expected = `numbers from 1 to ${MAX_AGENTS}, e.g. 4,16,64`;
    throw new MeshError('usage', `--agents: expected ${expected}, not "${item}"`);
  });
}
