import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { Stack } from '@gaia-mesh/stacks/contract/stack.ts';
import { type ArmSettings, explainUnsupported, type Factors, resolveSettings } from './factors.ts';
import type { StackRef } from './peers/protocol.ts';

/** A stack as it is measured: one implementation with one level of every factor. */
export interface Arm {
  /** `a2a/jsonrpc sdk tls=on` */
  readonly name: string;
  readonly stack: StackRef;
  readonly protocol: string;
  readonly transport: string;
  readonly settings: ArmSettings;
  /** Of each factor that was asked for. */
  readonly levels: Readonly<Record<string, string>>;
}

/** A stack and, where it is a user's, its file. */
export interface ChosenStack {
  readonly stack: Stack;
  readonly file?: string;
}

interface Arms {
  readonly arms: readonly Arm[];
  /** What was asked for and is not there, with the reason: `mcp/stdio sdk tls=on: it has no TLS`. */
  readonly leftOut: readonly string[];
}

/** Each takes five fresh pairs of processes; with more of them, none would be measured long enough. */
const MAX_ARMS = 64;

/**
 * Every stack with every combination of levels. Levels that a stack does not have are left out by name; a factor of which it has none
 * is not varied for it, so that it can still be compared with those that have it.
 *
 * @throws MeshError `usage` for more arms than can be measured
 */
export function combineArms(chosen: readonly ChosenStack[], { settings: factors }: Factors): Arms {
  const leftOut: string[] = [];
  const arms = chosen.flatMap(({ stack, file }): Arm[] => {
    const { name, implementation, protocol, transport } = stack;
    const own = [...factors].flatMap(([factor, levels]) => {
      const lacks = levels.map((level) => explainUnsupported(stack, factor, level));
      lacks.forEach((lack, index) => {
        if (lack !== undefined) leftOut.push(`${name} ${implementation} ${factor}=${levels[index]}: ${lack}`);
      });
      const had = levels.filter((_, index) => lacks[index] === undefined);
      return had.length > 0 || factor === 'size' ? [[factor, had] as const] : [];
    });
    return combineLevels(own).map((levels) => ({
      name: [`${name} ${implementation}`, ...Object.entries(levels).map((pair) => pair.join('='))].join(' '),
      stack: { name, implementation, ...(file === undefined ? {} : { file }) },
      protocol,
      transport,
      settings: resolveSettings(stack, levels),
      levels,
    }));
  });
  if (arms.length > MAX_ARMS) {
    throw new MeshError(
      'usage',
      `${chosen.length} stacks with all combinations of levels are ${arms.length} arms: at most ${MAX_ARMS} can be compared; name fewer stacks or levels`,
    );
  }
  return { arms, leftOut };
}

function combineLevels(factors: readonly (readonly [string, readonly string[]])[]): Record<string, string>[] {
  return factors.reduce<Record<string, string>[]>(
    (combinations, [name, levels]) =>
      combinations.flatMap((before) => levels.map((level) => ({ ...before, [name]: level }))),
    [{}],
  );
}
