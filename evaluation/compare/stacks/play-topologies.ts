import { MeshError } from '../../../core/contracts/errors.ts';
import type { Recording } from '../../../core/recording/recording.ts';
import type { TlsIdentity } from '../../../protocols/stacks/contract/stack.ts';
import { complain } from '../../terminal/print.ts';
import type { Arm } from './arms.ts';
import { FITS, TOPOLOGIES } from './exchanges.ts';
import { type Factors, toStackSettings } from './factors.ts';
import type { StacksFile } from './figures/stacks-file.ts';
import { playedFigures } from './figures/topology-figures.ts';
import { playTopology } from './topology-play.ts';

interface PlayedTopologies {
  readonly topologies: StacksFile['topologies'];
  /** What could not be played, with reasons. */
  readonly failed: readonly string[];
}

/**
 * Plays the recording through every topology that was asked for, both as it was recorded and as it would be addressed, over each arm that
 * has the recording's payloads. Where nobody asked, nothing is played: it takes a process for each node.
 */
export async function playTopologies(
  recording: Recording,
  arms: readonly Arm[],
  factors: Factors,
  identity: TlsIdentity | null,
  signal: AbortSignal,
): Promise<PlayedTopologies> {
  const isAsked = factors.topologies !== null || factors.agents.length > 0;
  const topologies: StacksFile['topologies'] = [];
  const failed: string[] = [];
  const recorded = recording.header.agents.length;
  for (const arm of isAsked ? arms.filter(({ settings }) => settings.size === null) : []) {
    const { stack, settings } = arm;
    const { workMs } = settings;
    for (const topology of factors.topologies ?? TOPOLOGIES) {
      for (const agents of factors.agents.length === 0 ? [recorded] : factors.agents) {
        for (const fit of FITS) {
          if (signal.aborted) return { topologies, failed };
          const what = `${arm.name}, topology ${topology} of ${agents} agents, ${fit}`;
          complain(`playing ${what} …`);
          try {
            if (agents < recorded) {
              throw new MeshError('usage', `the recording has ${recorded} agents; none can be taken away`);
            }
            const plan = { topology, fit, agents };
            const options = { ...plan, stack, settings: toStackSettings(settings, identity), workMs };
            topologies.push(playedFigures(arm.name, plan, await playTopology(recording, options, signal)));
          } catch (error) {
            if (signal.aborted) return { topologies, failed };
            if (!(error instanceof MeshError)) throw error;
            failed.push(`${what}: ${error.message}`);
          }
        }
      }
    }
  }
  return { topologies, failed };
}
