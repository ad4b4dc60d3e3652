import { randomInt } from 'node:crypto';
import type { ProtocolAdapter } from '@gaia-mesh/core/contracts/adapter.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { Team } from '@gaia-mesh/core/contracts/team.ts';
import { parseFaults } from '@gaia-mesh/core/hub/faults/parse-faults.ts';
import type { FaultRequest } from '@gaia-mesh/core/run/run-faults.ts';
import type { TeamOptions } from './options.ts';

/** Drawn seeds are below this bound: short enough to type. */
const DRAWN_SEEDS = 2 ** 31;

/** Draws a seed for faults, and says how to repeat them. */
export function drawSeed(): { faultSeed: number; said: string } {
  const faultSeed = randomInt(1, DRAWN_SEEDS);
  return {
    faultSeed,
    said: `faults drawn with seed ${faultSeed}; --fault-seed ${faultSeed} repeats them`,
  };
}

/**
 * Parses the fault options, and draws a seed if none is given. Returns undefined if they request nothing.
 *
 * @throws MeshError `usage`
 */
export function parseFaultRequest(
  options: TeamOptions,
  team: Team,
  adapter: ProtocolAdapter,
  external: ReadonlySet<string>,
): FaultRequest | undefined {
  const { faults: spec, faultSeed, restart } = options;
  if (restart !== undefined && adapter.join !== undefined) {
    throw new MeshError(
      'usage',
      `--restart does not go with ${adapter.name}: its agents exchange keys at the start of a run, and no agent would know the new keys of a restarted one; choose an adapter without keys, e.g. json`,
    );
  }
  if (spec === undefined) {
    return restart === undefined ? undefined : { spec: null, seed: null, faults: [], restarts: true };
  }
  const faults = parseFaults(spec, team.agents);
  for (const fault of faults) {
    if ((fault.kind !== 'kill' && fault.kind !== 'lie') || !external.has(fault.agent)) continue;
    throw new MeshError(
      'usage',
      `--faults: ${JSON.stringify(fault.text)}: you started agent ${fault.agent} yourself (--external); a run can control only agents that it has started`,
    );
  }
  return { spec, seed: faultSeed ?? drawSeed().faultSeed, faults, restarts: restart !== undefined };
}
