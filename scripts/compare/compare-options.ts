import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { WatchChoice } from '../command-line/watching.ts';
import type { OutcomeOptions } from './compare-outcome.ts';

/** What `compare` takes; all of it, since one command compares adapters and stacks. */
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

/** Options of adapters alone, and what there is for stacks instead. */
const OF_ADAPTERS = [
  ['adapters', 'name them as stacks, e.g. mesh/msgpack'],
  ['teams', '--recording takes a run that was made'],
  ['engines', '--recording takes a run that was made'],
  ['tool', '--recording takes a run that was made'],
  ['agents', 'a stack has two ends'],
] as const;

/** Options of stacks alone. */
const OF_STACKS = ['implementation', 'factor'] as const;

/**
 * Options that would be of no effect are refused: who gives one expects it to do something.
 *
 * @throws MeshError `usage`
 */
export function checkTogether(options: CompareOptions): void {
  if (options.stacks === undefined) {
    for (const name of OF_STACKS)
      if (options[name] !== undefined) throw new MeshError('usage', `--${name} goes with --stacks`);
    return;
  }
  for (const [name, instead] of OF_ADAPTERS)
    if (options[name] !== undefined)
      throw new MeshError('usage', `--${name} goes with adapters, not with --stacks: ${instead}`);
}

/** @throws MeshError `usage` for what is no implementation */
export function parseImplementations(asked: readonly string[] = ['bare', 'sdk']): readonly string[] {
  for (const one of asked) {
    if (one !== 'sdk' && one !== 'bare') {
      throw new MeshError('usage', `--implementation: expected sdk or bare, not "${one}"`);
    }
  }
  return asked;
}
