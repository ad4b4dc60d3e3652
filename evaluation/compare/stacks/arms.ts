import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { Stack } from '@gaia-mesh/stacks/contract/stack.ts';
import { type ArmSettings, explainUnsupported, type Factors, resolveSettings } from './factors.ts';
import type { StackRef } from './peers/protocol.ts';

/** A measured configuration of a stack: one implementation with one level of every factor. */
export interface Arm {
  /** `a2a/jsonrpc sdk tls=on` */
  readonly name: string;
  readonly stack: StackRef;
  readonly protocol: string;
  readonly transport: string;
  readonly settings: ArmSettings;
  /** Level of each requested factor. */
  readonly levels: Readonly<Record<string, string>>;
}

/** A stack and, if the user supplied it, its file. */
export interface ChosenStack {
  readonly stack: Stack;
  readonly file?: string | undefined;
}

interface Arms {
  readonly arms: readonly Arm[];
  /** Requested arms that do not exist, with the reason: `mcp/stdio sdk tls=on: it has no TLS`. */
  readonly leftOut: readonly string[];
}

/** Maximum arms. Each takes five fresh pairs of processes; with more arms, none would be measured long enough. */
const MAX_ARMS = 64;

/**
 * Combines every stack with every combination of levels. Levels that a stack lacks are listed as left out; a factor of which it has no
 * level is not varied for it, so that it can still be compared with stacks that have it.
 *
 * @throws MeshError `usage` if there are too many arms to measure
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
      stack: { name, implementation, file },
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
