import { MeshError } from '../../../core/errors.ts';
import { Random } from '../../../core/statistics/random.ts';
import { measure, type Sample } from './measure-relay.ts';
import { type Cell, planSeconds, roundsOf } from './plan.ts';
import { bundled } from './programs.ts';
import { installedTargets, TARGET_NAMES, type Target, type TargetName } from './targets.ts';
import { measureWake, type Wake } from './wake.ts';

const SEED = 1;

/** What one target did in one cell, round by round; a round that it did not survive is missing. */
export interface Outcome {
  readonly cell: Cell;
  readonly target: TargetName;
  readonly rounds: ReadonlyMap<number, Sample>;
  /** Why rounds are missing. */
  readonly faults: readonly string[];
}

export interface RelayResults {
  readonly targets: readonly Target[];
  readonly rounds: number;
  readonly outcomes: readonly Outcome[];
  /** Once a round. */
  readonly wakes: readonly Wake[];
}

/** What would be compared, too, if the machine had it. */
export function missingTargets({ targets }: Pick<RelayResults, 'targets'>): string[] {
  const absent = TARGET_NAMES.filter((name) => !targets.some((target) => target.name === name));
  // There is no load for it either: its library is not among this project's packages.
  return [...absent, 'ZeroMQ'];
}

/**
 * Every cell and target once a round, the targets of a cell one behind the other in an order of chance: the machine changes its speed by
 * itself, and only neighbours can be compared.
 */
export async function runRounds(
  cells: readonly Cell[],
  rounds: number,
  progress: (text: string) => void,
): Promise<RelayResults> {
  const targets = await installedTargets();
  progress(`not installed, so left out: ${missingTargets({ targets }).join(', ')}`);
  const whyNot = await bundled();
  if (whyNot !== undefined) progress(whyNot);
  const random = new Random(SEED);
  const outcomes = cells.flatMap((cell) =>
    targets
      .filter(({ name }) => cell.targets.includes(name))
      .map((target) => ({ cell, target, rounds: new Map<number, Sample>(), faults: [] as string[] })),
  );
  const wakes: Wake[] = [];
  const minutes = Math.ceil(planSeconds(cells, rounds) / 60);
  progress(
    `${cells.length} loads, ${rounds} rounds: about ${minutes} min on a machine that does nothing else`,
  );
  for (let round = 0; round < rounds; round++) {
    wakes.push(await measureWake());
    for (const cell of cells) {
      if (round >= roundsOf(cell, rounds)) continue;
      progress(`round ${round + 1} of ${rounds}: ${cell.name}`);
      for (const outcome of random.shuffle(outcomes.filter((each) => each.cell === cell))) {
        try {
          outcome.rounds.set(round, await measure(outcome.target, cell.load));
        } catch (error) {
          const isInterrupted = error instanceof MeshError && error.code === 'interrupted';
          // What one target loses is a result, not the end of the measurement; but this hub loses nothing.
          if (isInterrupted || outcome.target.keepsBooks === true) throw error;
          outcome.faults.push(String(error));
        }
      }
    }
  }
  return {
    targets,
    rounds,
    wakes,
    outcomes: outcomes.map(({ target, ...outcome }) => ({ ...outcome, target: target.name })),
  };
}
