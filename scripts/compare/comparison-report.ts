import type { AdapterComparison, AdapterFigures } from '../../core/recording/compare-adapters.ts';
import type { Conclusion } from './sentence.ts';

/** An adapter's figures with what a model must read of it. */
export interface Row extends AdapterFigures {
  readonly prompt_tokens: number | null;
}

/** `comparison.json` */
export interface ComparisonReport extends Omit<AdapterComparison, 'adapters'>, Conclusion {
  readonly schema_version: 1;
  readonly run_id: string;
  readonly team: string;
  readonly tasks: number;
  readonly packets: number;
  readonly seed: number;
  readonly environment: Readonly<Record<string, string | number>>;
  readonly adapters: readonly Row[];
}
