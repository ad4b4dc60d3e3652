import type { ComparisonFile } from '@gaia-mesh/evaluation/compare/comparison-file.ts';
import type { ExperimentOptions } from '@gaia-mesh/evaluation/compare/experiment.ts';
import type { ArchivedRun } from '@gaia-mesh/evaluation/report/run/archived-run.ts';
import type { EventFeed } from '@gaia-mesh/evaluation/watch/event-feed.ts';
import type { WatchChoice } from '../command-line/watching.ts';
import type { OutcomeOptions } from './compare-outcome.ts';

/** Options of `compare`, in one type, since the command compares both adapters and stacks. */
export interface CompareOptions extends OutcomeOptions, WatchChoice {
  readonly recording?: string;
  readonly teams?: readonly string[];
  readonly engines?: readonly string[];
  readonly tool?: readonly string[];
  readonly agents?: readonly string[];
  readonly adapters?: readonly string[];
  readonly stacks?: readonly string[] | undefined;
  readonly implementation?: readonly string[];
  readonly factor?: readonly string[];
  readonly rate: number;
  readonly budget?: number;
  readonly rounds: number;
  readonly invocations: number;
  readonly margin: number;
  readonly maxAgents: number;
  readonly seed: number;
  readonly out?: string;
  readonly json?: boolean;
  readonly write?: boolean;
}

/** A comparison that is ready to be measured: its options were read and found valid. */
export interface ComparisonPlan {
  /** The page of the documentation that `--write` updates. */
  readonly page: string;
  /** Measures it, and returns it with the runs that were recorded for it. */
  compare(context: RunContext): Promise<{
    readonly report: ComparisonFile;
    readonly runs: readonly ArchivedRun[];
  }>;
}

/** The context of a comparison while it runs: its page, its signal, and its listeners. */
export interface RunContext
  extends Pick<ExperimentOptions<never>, 'random' | 'onProgress' | 'onNote' | 'signal'> {
  readonly onMeasured: (measured: readonly unknown[]) => void;
  /** The live page, if it was requested. */
  readonly feed: EventFeed | undefined;
  /** The command line that repeats the measurement. */
  readonly command: string;
}
