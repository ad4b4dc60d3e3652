import { Random } from '../../core/statistics/random.ts';

/** Something that goes wrong in a round, when so much of it (0 to 1) has passed. */
export type Mishap =
  | { readonly kind: 'kill'; readonly at: number; readonly process: number }
  /** An agent that reads nothing for a while: the others wait for it, or it is cut off. */
  | { readonly kind: 'slow' | 'stall'; readonly at: number; readonly agent: string; readonly forMs: number };

/** A hub that soaks cuts off an agent that takes nothing for so long. */
export const SOAK_STALL_MS = 500;
const SLOW_MS = SOAK_STALL_MS / 5;
/** Longer than it takes to fill all queues and to be cut off then. */
const STALLED_MS = 4 * SOAK_STALL_MS;

/** The mishaps of one round, in order: the same for the same seed and number. */
export function mishapsOf(seed: number, round: number, agents: number, processes: number): Mishap[] {
  const random = new Random(seed * 1000 + round);
  // Not at the very end: what is broken must have time to come back under load.
  const at = () => 0.05 + 0.8 * random.uniform();
  const agent = () => String(random.integer(agents));
  return [
    { kind: 'kill' as const, at: at(), process: random.integer(processes) },
    { kind: 'kill' as const, at: at(), process: random.integer(processes) },
    { kind: 'slow' as const, at: at(), agent: agent(), forMs: SLOW_MS },
    { kind: 'slow' as const, at: at(), agent: agent(), forMs: SLOW_MS },
    { kind: 'stall' as const, at: at(), agent: agent(), forMs: STALLED_MS },
  ].sort((a, b) => a.at - b.at);
}
