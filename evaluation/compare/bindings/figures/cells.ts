import type { Cell } from '../../../statistics/attribution.ts';
import type { ArmFigures } from './arm-figures.ts';
import type { BindingArm } from './bindings-file.ts';

/** Level of a factor that an arm's binding does not have. */
const NONE = 'none';

/** An arm as a cell of a factorial plan. */
export interface ArmCell extends Cell {
  readonly name: string;
}

/**
 * The arms as cells, for whoever asks how much of a difference is protocol, transport, implementation or setting. Every cell has all
 * factors. An arm that has no figures of this kind, such as the time at a rate that it did not keep up with, is no cell.
 */
export function cellsOf(
  arms: readonly Pick<
    ArmFigures,
    'name' | 'protocol' | 'transport' | 'implementation' | 'levels' | 'samples'
  >[],
  figure: keyof BindingArm['samples'],
): ArmCell[] {
  const factors = new Set(arms.flatMap(({ levels }) => Object.keys(levels)));
  const none = Object.fromEntries([...factors].map((factor) => [factor, NONE]));
  return arms.flatMap(({ name, protocol, transport, implementation, levels, samples }) => {
    const own = samples[figure];
    const all = { protocol, transport, implementation, ...none, ...levels };
    return own.length === 0 ? [] : [{ name, levels: all, samples: own }];
  });
}
