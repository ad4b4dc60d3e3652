import type { RunWarning } from '@gaia-mesh/core/contracts/warning.ts';
import type { RunMetrics } from '@gaia-mesh/core/run/metrics/metrics-schema.ts';
import type { PlannedTeam } from '../../plan/team-options.ts';
import type { TeamEnd } from '../runner.ts';

/** Facts about a team that a summary shows beside its figures. */
export interface TeamFacts {
  readonly engine: string;
  readonly model: string | null;
  readonly adapter: string;
  /** Seconds that this process took for the questions it finished; null if it finished none. */
  readonly wall_seconds: number | null;
  readonly questions_per_s: number | null;
  /** Warnings of this process about replies of other software that could not be read in full. */
  readonly warnings: readonly RunWarning[];
  /** The faults that were injected into this process's questions, and their effects. */
  readonly faults?: RunMetrics['faults'];
}

export function buildTeamFacts(
  { engine, model, adapter }: PlannedTeam['team'],
  end: TeamEnd | undefined,
): TeamFacts {
  const timed = end === undefined || end.asked === 0 ? undefined : end;
  return {
    engine,
    model: model ?? null,
    adapter,
    wall_seconds: timed?.wallSeconds ?? null,
    questions_per_s: timed === undefined ? null : timed.asked / timed.wallSeconds,
    warnings: end?.mesh?.metrics.warnings ?? [],
    faults: end?.mesh?.metrics.faults,
  };
}
