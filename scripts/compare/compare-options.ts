import type { ComparisonFile } from '@gaia-mesh/evaluation/compare/comparison-file.ts';
import type { ComparableFacts } from '@gaia-mesh/evaluation/compare/conditions/conditions.ts';
import type { ExperimentContext } from '@gaia-mesh/evaluation/compare/experiment.ts';
import {
  amount,
  commaList,
  defineTable,
  flag,
  option,
  output,
  seconds,
  text,
  texts,
  wholeNumber,
} from '@gaia-mesh/evaluation/plan/option-table.ts';
import { demandShape, network, watchNeeds, watchShape } from '@gaia-mesh/evaluation/plan/options.ts';
import type { EventFeed } from '@gaia-mesh/evaluation/watch/event-feed.ts';
import * as z from 'zod';

const STACKS = ['stacks', 'bindings'] as const;

/** All options of `compare`, in one table, since the command compares both adapters and stacks. */
export const compareTable = defineTable({
  options: z.object({
    ...watchShape,
    adapters: option(
      '<names>',
      'compare these protocols, baseline first, e.g. json,a2a (default: all)',
      commaList.optional(),
    ),
    stacks: option(
      '<names>',
      'compare protocols on real transports, e.g. mesh/json,a2a/jsonrpc,mcp/http (or all)',
      commaList.optional(),
    ),
    bindings: option('<names>', 'use --stacks, the new name of this option', commaList.optional(), {
      isHidden: true,
    }),
    implementation: option(
      '<names>',
      'measure stacks by sdk (JavaScript), bare, python, go (default: sdk,bare)',
      commaList.optional(),
    ),
    factor: option(
      '<name=levels...>',
      'vary a setting of stacks, e.g. tls=on,off size=64,4096',
      texts.optional(),
    ),
    network,
    rate: option(
      '<n>',
      'send this many exchanges a second through stacks',
      amount('a number a second', 100_000).default(200),
    ),
    recording: option('<file>', "replay a run's archive or an imported file", text.optional()),
    budget: option('<seconds>', 'stop after this time (default: 75; more for stacks)', seconds.optional()),
    invocations: option('<n>', 'start this many fresh processes (5 for a verdict)', wholeNumber.default(10)),
    rounds: option('<n>', 'sample each process this many times (3 for a verdict)', wholeNumber.default(3)),
    margin: option(
      '<percent>',
      'count differences up to this as equal',
      amount('a percentage', 100).default(5),
    ),
    seed: option('<n>', 'set the seed of the order of arms', wholeNumber.default(1)),
    ...demandShape,
    out: option(
      '<dir>',
      'write results to this folder (default: the project root)',
      output.folder.optional(),
    ),
    write: flag('write the results to docs/results (in a checkout)'),
    maxAgents: option('<n>', 'refuse recordings with more agents', wholeNumber.default(64)),
    json: flag('print the comparison as JSON'),
  }),
  common: [
    ...(['adapters', 'stacks', 'recording', 'budget', 'invocations', 'failIf'] as const),
    ...(['junit', 'summary', 'baseline', 'saveBaseline', 'out', 'watch', 'json'] as const),
  ],
  needs: [
    ...watchNeeds,
    {
      options: ['implementation', 'factor', 'rate'],
      needs: STACKS,
      why: 'adapters are compared on recorded packets, without a transport',
    },
    { options: ['bindings'], excludes: ['stacks'], why: 'it is the old name' },
    { options: ['adapters'], excludes: STACKS, why: 'name them as stacks, e.g. mesh/msgpack' },
    { options: ['maxAgents'], excludes: STACKS, why: 'a stack has two ends' },
    { options: ['junit'], needs: ['failIf'], why: 'the report lists its conditions' },
  ],
});

export type CompareOptions = z.output<typeof compareTable.options>;

/** A comparison that is ready to be measured: its options were read and found valid. */
export interface ComparisonPlan {
  /** The page of the documentation that `--write` updates. */
  readonly page: string;
  /** The arms that it measures, which conditions may name. */
  readonly arms: readonly { readonly name: string }[];
  /** The facts by which a saved baseline is accepted or refused before anything is measured. */
  readonly facts: Omit<ComparableFacts, 'environment'>;
  compare(context: RunContext): Promise<ComparisonFile>;
}

/** The context of a comparison while it runs: its page, its signal, and its listeners. */
export interface RunContext extends Omit<ExperimentContext<never>, 'onBlock'> {
  /** The live page, if it was requested. */
  readonly feed: EventFeed | undefined;
  /** The command line that repeats the measurement. */
  readonly command: string;
}
