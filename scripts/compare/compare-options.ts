import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
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

/** Options for adapters only, with what to use for stacks instead. */
const OF_ADAPTERS = [
  ['adapters', 'name them as stacks, e.g. mesh/msgpack'],
  ['teams', '--recording replays a finished run'],
  ['engines', '--recording replays a finished run'],
  ['tool', '--recording replays a finished run'],
  ['agents', 'a stack has two ends'],
] as const;

/** Options for stacks only. */
const OF_STACKS = ['implementation', 'factor'] as const;

/**
 * Refuses options that would have no effect, since their user expects one.
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

/**
 * Parses the implementations to compare.
 *
 * @throws MeshError `usage` for an unknown one
 */
export function parseImplementations(asked: readonly string[] = ['bare', 'sdk']): readonly string[] {
  for (const one of asked) {
    if (one !== 'sdk' && one !== 'bare') {
      throw new MeshError('usage', `--implementation: expected sdk or bare, not "${one}"`);
    }
  }
  return asked;
}
