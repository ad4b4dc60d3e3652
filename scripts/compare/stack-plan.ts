import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { Experiment } from '@gaia-mesh/evaluation/compare/experiment.ts';
import { loadRecording } from '@gaia-mesh/evaluation/compare/recording.ts';
import { type Arm, chooseStacks, combineArms } from '@gaia-mesh/evaluation/compare/stacks/arms.ts';
import { reportStacks } from '@gaia-mesh/evaluation/compare/stacks/figures/stacks-report.ts';
import { type Invocation, sampleStack } from '@gaia-mesh/evaluation/compare/stacks/invocation.ts';
import { StackArms } from '@gaia-mesh/evaluation/compare/stacks/stack-arms.ts';
import { buildEchoes, buildRecordedExchanges } from '@gaia-mesh/evaluation/compare/stacks/workload.ts';
import { createComparisonListener } from '@gaia-mesh/evaluation/watch/comparison-events.ts';
import { IMPLEMENTATIONS } from '@gaia-mesh/stacks/contract/stack.ts';
import { createSelfSigned } from '@gaia-mesh/stacks/self-signed.ts';
import type { CompareOptions, ComparisonPlan } from './compare-options.ts';

/**
 * Seconds for five fresh pairs of processes of each arm, and twice as many of the baseline; at most nine minutes in all.
 */
const BUDGET_S = { each: 18, most: 540 };

/** Plans a comparison of stacks: the same exchanges pass through each, with every end in a process of its own. */
export async function planStacks(names: readonly string[], options: CompareOptions): Promise<ComparisonPlan> {
  const { seed, rate: ratePerS, invocations, rounds } = options;
  const implementations = parseImplementations(options.implementation);
  const { chosen, leftOut } = await chooseStacks({ names, implementations });
  const combined = combineArms(chosen, options.factor, options.network);
  const { arms: all, leftOut: lacking } = combined;
  const [baseline, ...others] = all;
  if (baseline === undefined) {
    throw new MeshError(
      'usage',
      `--stacks: nothing is left to measure: ${[...leftOut, ...lacking].join('; ')}`,
    );
  }
  const isSecured = all.some(({ settings }) => settings.tls);
  const identity = isSecured ? await createSelfSigned() : null;
  if (identity === null && isSecured) {
    throw new MeshError('usage', '--factor tls=on: openssl, which makes the certificate, is not installed');
  }
  const recording = await loadRecording(options.recording);
  const traffic = buildRecordedExchanges(recording);
  const exchangesOf = ({ settings: { size } }: Arm) => (size === null ? traffic : buildEchoes(size, seed));
  const budgetMs = 1000 * (options.budget ?? Math.min(BUDGET_S.most, BUDGET_S.each * (all.length + 1)));
  const arms = [baseline, ...others] as const;
  return {
    page: 'docs/results/stacks.md',
    arms,
    facts: { kind: 'stacks', baseline: baseline.name, run_id: recording.header.run_id },
    compare: async ({ feed, command, signal, ...running }) => {
      const stackArms = new StackArms({
        arms,
        exchangesOf,
        identity,
        concurrency: combined.concurrency,
        ratePerS,
        design: { budgetMs, invocations, rounds },
      });
      const measured = await new Experiment(stackArms.plan(), {
        ...running,
        signal,
        onBlock: createComparisonListener(
          feed,
          recording,
          arms.map((arm) => ({
            name: arm.name,
            sample: (own: Invocation) => sampleStack(own, exchangesOf(arm)),
          })),
        ),
      }).run();
      return reportStacks({
        arms,
        measured: { ...measured, warnings: [...stackArms.warnings, ...measured.warnings] },
        concurrency: stackArms.concurrency,
        recording,
        traffic,
        exchangesOf,
        ratePerS,
        seed,
        command,
        leftOut: [...leftOut, ...lacking],
        margin: options.margin / 100,
      });
    },
  };
}

/**
 * Parses the implementations to compare.
 *
 * @throws MeshError `usage` for an unknown one
 */
function parseImplementations(asked: readonly string[] = ['bare', 'sdk']): readonly string[] {
  for (const one of asked) {
    if (!IMPLEMENTATIONS.some((known) => known === one)) {
      throw new MeshError('usage', `--implementation: expected ${IMPLEMENTATIONS.join(', ')}, not "${one}"`);
    }
  }
  return asked;
}
