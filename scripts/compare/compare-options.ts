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
