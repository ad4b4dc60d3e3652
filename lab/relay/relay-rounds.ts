import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { Random } from '@gaia-mesh/core/system/random.ts';
import { printError } from '@gaia-mesh/evaluation/terminal/print.ts';
import { ProgressBar } from '@gaia-mesh/evaluation/terminal/progress-bar.ts';
import { type Estimate, estimateMedian } from '../measure/rounds.ts';
import { carryLoad } from './carry.ts';
import { estimateSeconds, type Load, listLoads } from './loads.ts';
import type { Figure, Sample } from './sample.ts';
import { listInstalledTargets, listMissingTargets, type RelayTarget, type TargetName } from './targets.ts';

/** Results of one target with one load, round by round; a round that it did not survive is missing. */
export interface RelayOutcome {
  readonly load: Load;
  readonly target: TargetName;
  readonly rounds: ReadonlyMap<number, Sample>;
  /** Reasons for the missing rounds. */
  readonly failures: readonly string[];
}

export interface RelayResults {
  readonly targets: readonly RelayTarget[];
  readonly rounds: number;
  readonly outcomes: readonly RelayOutcome[];
}

/** Seed of the order of the targets within a load. */
const SEED = 1;

/** Measures every load and target once per round, the targets of a load one after the other in random order. */
export async function measureRelay(isQuick: boolean, rounds: number): Promise<RelayResults> {
  const targets = await listInstalledTargets();
  const loads = listLoads(isQuick, rounds);
  const installed = targets.map(({ name }) => name);
  const minutes = Math.ceil(estimateSeconds(loads, installed) / 60);
  const missing = listMissingTargets(targets);
  if (missing.length > 0) printError(`not installed, so left out: ${missing.join(', ')}`);
  printError(
    `${loads.length} loads, ${rounds} rounds: about ${minutes} min on a machine that does nothing else`,
  );
  const total = loads.reduce((sum, load) => sum + load.rounds, 0);
  const bar = await ProgressBar.start(total, 'loads');
  const outcomes = loads.flatMap((load) =>
    targets
      .filter(({ name }) => load.targets.includes(name))
      .map((target) => ({ load, target, rounds: new Map<number, Sample>(), failures: [] as string[] })),
  );
  const random = new Random(SEED);
  const most = Math.max(...loads.map((load) => load.rounds));
  for (let round = 0; round < most; round++) {
    for (const load of loads.filter((each) => round < each.rounds)) {
      for (const outcome of random.shuffle(outcomes.filter((each) => each.load === load))) {
        try {
          outcome.rounds.set(round, await carryLoad(outcome.target, load));
        } catch (error) {
          if (isOurs(outcome.target) || isInterruption(error)) throw error;
          outcome.failures.push(String(error));
        }
      }
      bar.advance(load.name);
    }
  }
  bar.end();
  return { targets, rounds, outcomes: outcomes.map((each) => ({ ...each, target: each.target.name })) };
}

/**
 * Returns true for this project's hub, whose losses end the measurement; losses of another target are a
 * result.
 */
function isOurs({ name }: RelayTarget): boolean {
  return name === 'run' || name === 'flood' || name === 'flood again';
}

function isInterruption(error: unknown): boolean {
  return error instanceof MeshError && error.code === 'interrupted';
}

/** Estimates the median of a figure over all rounds of these outcomes. */
export function estimateFigure(outcomes: readonly RelayOutcome[], figure: Figure): Estimate | undefined {
  return estimateMedian(
    outcomes.flatMap(({ rounds }) => [...rounds.values()].map((sample) => sample[figure])),
  );
}
