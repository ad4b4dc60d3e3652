import { MeshError } from '../../../core/contracts/errors.ts';
import type { Binding } from '../../../protocols/bindings/contract/binding.ts';
import { type ArmSettings, type Factors, lackOf, settingsOf } from './factors.ts';
import type { BindingRef } from './peers/protocol.ts';

/** A binding as it is measured: one implementation with one level of every factor. */
export interface Arm {
  /** `a2a/jsonrpc sdk tls=on` */
  readonly name: string;
  readonly binding: BindingRef;
  readonly protocol: string;
  readonly transport: string;
  readonly settings: ArmSettings;
  /** Of each factor that was asked for. */
  readonly levels: Readonly<Record<string, string>>;
}

/** A binding and, where it is a user's, its file. */
export interface ChosenBinding {
  readonly binding: Binding;
  readonly file?: string;
}

export interface Arms {
  readonly arms: readonly Arm[];
  /** What was asked for and is not there, with the reason: `mcp/stdio sdk tls=on: it has no TLS`. */
  readonly leftOut: readonly string[];
}

/** Each takes five fresh pairs of processes; with more of them, none would be measured long enough. */
const MAX_ARMS = 64;

/**
 * Every binding with every combination of levels. Levels that a binding does not have are left out by name; a factor of which it has none
 * is not varied for it, so that it can still be compared with those that have it.
 *
 * @throws MeshError `usage` for more arms than can be measured
 */
export function armsOf(chosen: readonly ChosenBinding[], { settings: factors }: Factors): Arms {
  const leftOut: string[] = [];
  const arms = chosen.flatMap(({ binding, file }): Arm[] => {
    const { name, implementation, protocol, transport } = binding;
    const own = [...factors].flatMap(([factor, levels]) => {
      const lacks = levels.map((level) => lackOf(binding, factor, level));
      lacks.forEach((lack, index) => {
        if (lack !== undefined) leftOut.push(`${name} ${implementation} ${factor}=${levels[index]}: ${lack}`);
      });
      const had = levels.filter((_, index) => lacks[index] === undefined);
      return had.length > 0 || factor === 'size' ? [[factor, had] as const] : [];
    });
    return product(own).map((levels) => ({
      name: [`${name} ${implementation}`, ...Object.entries(levels).map((pair) => pair.join('='))].join(' '),
      binding: { name, implementation, ...(file === undefined ? {} : { file }) },
      protocol,
      transport,
      settings: settingsOf(binding, levels),
      levels,
    }));
  });
  if (arms.length > MAX_ARMS) {
    throw new MeshError(
      'usage',
      `${chosen.length} bindings with all combinations of levels are ${arms.length} arms: at most ${MAX_ARMS} can be compared; name fewer bindings or levels`,
    );
  }
  return { arms, leftOut };
}

function product(factors: readonly (readonly [string, readonly string[]])[]): Record<string, string>[] {
  return factors.reduce<Record<string, string>[]>(
    (combinations, [name, levels]) =>
      combinations.flatMap((before) => levels.map((level) => ({ ...before, [name]: level }))),
    [{}],
  );
}
