import type { Cell } from '../../../statistics/attribution.ts';
import type { ArmFigures } from './arm-figures.ts';
import type { StackArm } from './stacks-file.ts';

/** Level of a factor that an arm's stack does not have. */
const NONE = 'none';

/** An arm as a cell of a factorial plan. */
export interface ArmCell extends Cell {
  readonly name: string;
}

type Measured = Pick<
  ArmFigures,
  'name' | 'stack' | 'protocol' | 'transport' | 'implementation' | 'levels' | 'samples'
>;

/**
 * The arms as cells, for whoever asks how much of a difference is protocol, transport, implementation or setting. Every cell has all
 * factors, and no two cells have the same levels: stacks of one protocol on one transport, such as `a2a/jsonrpc` and `a2a/rest`, are
 * told apart by their names. An arm that has no figures of this kind, such as the time at a rate that it did not keep up with, is no cell.
 */
export function cellsOf(arms: readonly Measured[], figure: keyof StackArm['samples']): ArmCell[] {
  const factors = new Set(arms.flatMap(({ levels }) => Object.keys(levels)));
  const none = Object.fromEntries([...factors].map((factor) => [factor, NONE]));
  const protocolOf = protocolLevels(arms);
  return arms.flatMap((arm) => {
    const { name, transport, implementation, levels, samples } = arm;
    const own = samples[figure];
    const all = { protocol: protocolOf(arm), transport, implementation, ...none, ...levels };
    return own.length === 0 ? [] : [{ name, levels: all, samples: own }];
  });
}

/** The protocol of an arm, or its stack's name where others have the same protocol and transport. */
function protocolLevels(arms: readonly Measured[]): (arm: Measured) => string {
  const named = Map.groupBy(arms, ({ protocol, transport }) => `${protocol} ${transport}`);
  return ({ protocol, transport, stack }) => {
    const names = new Set((named.get(`${protocol} ${transport}`) ?? []).map((arm) => arm.stack));
    return names.size > 1 ? stack : protocol;
  };
}
