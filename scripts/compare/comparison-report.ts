import type { AdapterComparison, AdapterFigures } from '../../core/recording/compare-adapters.ts';
import type { Cell } from './matrix.ts';
import type { Conclusion } from './sentence.ts';

/** An adapter's figures with what a model must read of it. */
export interface Row extends AdapterFigures {
  readonly prompt_tokens: number | null;
}

/** The adapters on the packets of one run. */
export interface ComparisonReport extends Omit<AdapterComparison, 'adapters'>, Conclusion {
  readonly schema_version: 1;
  readonly run_id: string;
  readonly team: string;
  readonly engine: string;
  readonly agents: number;
  readonly tasks: number;
  readonly packets: number;
  readonly seed: number;
  readonly environment: Readonly<Record<string, string | number>>;
  readonly adapters: readonly Row[];
}

/** `comparison.json`: the first run of the matrix in full, and all of them in short. */
export interface ComparisonFile extends ComparisonReport {
  readonly matrix: readonly Cell[];
}
