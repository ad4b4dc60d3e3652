import type { Cell } from '../../../statistics/cell.ts';
import type { BindingArm } from './bindings-file.ts';

/**
 * The arms as cells of a factorial plan, for whoever asks how much of a difference is protocol, transport, implementation or setting. An
 * arm that has no figures of this kind, such as the time at a rate that it did not keep up with, is no cell.
 */
export function cellsOf(arms: readonly BindingArm[], figure: keyof BindingArm['samples']): Cell[] {
  return arms.flatMap(({ protocol, transport, implementation, levels, samples }) => {
    const own = samples[figure];
    return own.length === 0
      ? []
      : [{ levels: { protocol, transport, implementation, ...levels }, samples: own }];
  });
}
