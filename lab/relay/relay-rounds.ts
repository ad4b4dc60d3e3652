import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { complain } from '@gaia-mesh/evaluation/terminal/print.ts';
import { ProgressBar } from '@gaia-mesh/evaluation/terminal/progress-bar.ts';
import { type Estimate, estimateOf, interleaved } from '../measure/rounds.ts';
import { carry } from './carry.ts';
import { type Load, loadsOf, roundsOf, secondsOf } from './loads.ts';
import type { Sample, SampleReading } from './sample.ts';
import { installedTargets, missingTargets, type RelayTarget, type TargetName } from './targets.ts';

/** What one target did with one load, round by round; a round that it did not survive is missing. */
export interface RelayOutcome {
  readonly load: Load;
  readonly target: TargetName;
  readonly rounds: ReadonlyMap<number, Sample>;
  /** Why rounds are missing. */
  readonly failures: readonly string[];
}

export interface RelayResults {
  readonly targets: readonly RelayTarget[];
  readonly rounds: number;
  readonly outcomes: readonly RelayOutcome[];
}

/** Every load and target once a round, the targets of a load one behind the other. */
export async function measureRelay(isQuick: boolean, rounds: number): Promise<RelayResults> {
  const targets = await installedTargets();
  const loads = loadsOf(isQuick);
  const installed = targets.map(({ name }) => name);
  const minutes = Math.ceil(secondsOf(loads, rounds, installed) / 60);
  const missing = missingTargets(targets);
  if (missing.length > 0) complain(`not installed, so left out: ${missing.join(', ')}`);
  complain(
    `${loads.length} loads, ${rounds} rounds: about ${minutes} min on a machine that does nothing else`,
  );
  const total = loads.reduce((sum, load) => sum + roundsOf(load, rounds), 0);
  const bar = await ProgressBar.start(total, 'loads');
  const outcomes = loads.flatMap((load) =>
    targets
      .filter(({ name }) => load.targets.includes(name))
      .map((target) => ({ load, target, rounds: new Map<number, Sample>(), failures: [] as string[] })),
  );
  for (let round = 0; round < rounds; round++) {
    for (const load of loads.filter((each) => round < roundsOf(each, rounds))) {
      const own = outcomes
        .filter((outcome) => outcome.load === load)
        .map((outcome) => {
          const measure = async () => {
            try {
              outcome.rounds.set(round, await carry(outcome.target, load));
            } catch (error) {
              if (isOurs(outcome.target) || isInterruption(error)) throw error;
              outcome.failures.push(String(error));
            }
          };
          return [outcome.target.name, measure] as const;
        });
      await interleaved(Object.fromEntries(own), { rounds: 1, seed: round + 1 });
      bar.advance(load.name);
    }
  }
  bar.end();
  return { targets, rounds, outcomes: outcomes.map((each) => ({ ...each, target: each.target.name })) };
}

/** What another target loses is a result, not the end of the measurement; but this hub loses nothing. */
function isOurs({ name }: RelayTarget): boolean {
  return name === 'run' || name === 'flood' || name === 'flood again';
}

function isInterruption(error: unknown): boolean {
  return error instanceof MeshError && error.code === 'interrupted';
}

export function estimateIn(outcomes: readonly RelayOutcome[], reading: SampleReading): Estimate | undefined {
  return estimateOf(outcomes.flatMap(({ rounds }) => [...rounds.values()].map(reading)));
}
