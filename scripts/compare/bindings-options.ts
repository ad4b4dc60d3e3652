import { MeshError } from '../../core/contracts/errors.ts';
import type { WatchChoice } from '../command-line/watching.ts';
import type { OutcomeOptions } from './compare-outcome.ts';

/** What `compare` takes; all of it, since one command compares adapters and bindings. */
export interface CompareBindingsOptions extends OutcomeOptions, WatchChoice {
  readonly bindings: readonly string[];
  readonly implementation?: readonly string[];
  readonly factor?: readonly string[];
  readonly rate: number;
  readonly recording?: string;
  readonly budget?: number;
  readonly invocations: number;
  readonly rounds: number;
  readonly margin: number;
  readonly seed: number;
  readonly out?: string;
  readonly json?: boolean;
  readonly write?: boolean;
}

/** Options of adapters alone, and what there is for bindings instead. */
const OF_ADAPTERS = {
  adapters: 'name them as bindings, e.g. mesh/msgpack',
  teams: '--recording takes a run that was made',
  engines: '--recording takes a run that was made',
  tool: '--recording takes a run that was made',
  agents: '--factor agents=4,16 is the same',
} as const;

/** Options of bindings alone. */
const OF_BINDINGS = ['implementation', 'factor'] as const;

type Unknown = { readonly [key: string]: unknown };

/**
 * Options that would be of no effect are refused: who gives one expects it to do something.
 *
 * @throws MeshError `usage`
 */
export function checkTogether(options: object, isOfBindings: boolean): void {
  const given: Unknown = { ...options };
  if (isOfBindings) {
    for (const [name, instead] of Object.entries(OF_ADAPTERS)) {
      if (given[name] !== undefined) {
        throw new MeshError('usage', `--${dashed(name)} goes with adapters, not with --bindings: ${instead}`);
      }
    }
    return;
  }
  for (const name of OF_BINDINGS) {
    if (given[name] !== undefined) throw new MeshError('usage', `--${name} goes with --bindings`);
  }
}

/** @throws MeshError `usage` for what is no implementation */
export function implementationsOf(asked: readonly string[] = ['bare', 'sdk']): readonly string[] {
  for (const one of asked) {
    if (one !== 'sdk' && one !== 'bare') {
      throw new MeshError('usage', `--implementation: expected sdk or bare, not "${one}"`);
    }
  }
  return asked;
}

function dashed(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
