import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { type JudgedComparison, judgeComparisons } from '../../statistics/level-verdicts.ts';
import { compareNestedSamples } from '../../statistics/levels.ts';
import type { Compared, Samples } from './compared.ts';

/** One arm in the current and the saved comparison. */
export interface SavedChange {
  readonly name: string;
  readonly bytes: { readonly before: number; readonly now: number };
  /** Ratio of the current to the saved time; null if either has no times. */
  readonly time: JudgedComparison | null;
}

type Environment = Compared['environment'];

const SAME_MACHINE: readonly {
  readonly what: string;
  of(environment: Environment): string | number | undefined;
}[] = [
  { what: 'the processor', of: ({ cpu }) => cpu },
  { what: 'the number of cores', of: ({ cpus }) => cpus },
  { what: 'the platform', of: ({ platform, arch }) => `${platform} ${arch}` },
  { what: 'Node', of: ({ node }) => node },
];

/**
 * Rejects a saved comparison of another machine before minutes are spent on measuring.
 *
 * @throws MeshError `config` if another machine or version of Node made the comparison
 */
export function checkSameMachine({ environment: then }: Compared, now: Environment, file: string): void {
  refuse(
    SAME_MACHINE.flatMap(({ what, of }) => describeDifference(what, of(then), of(now))),
    file,
  );
}

/** @throws MeshError `config` if the two comparisons are not comparable, with their differences */
export function checkComparable(saved: Compared, now: Compared, file: string): void {
  checkSameMachine(saved, now.environment, file);
  refuse(
    Object.entries(now.same).flatMap(([what, value]) => describeDifference(what, saved.same[what], value)),
    file,
  );
}

function describeDifference(what: string, then?: string | number, now?: string | number): string[] {
  return then === now ? [] : [`${what} (then ${then}, now ${now})`];
}

function refuse(differences: readonly string[], file: string): void {
  if (differences.length === 0) return;
  throw new MeshError(
    'config',
    `--baseline ${file}: is not comparable with this comparison, because these differ: ${differences.join('; ')}. Save a new baseline with --save-baseline`,
  );
}

/** Judges all arms that are in both comparisons together. Bytes are exact; for times see {@link asManyOfEach}. */
export function judgeChanges(saved: Compared, now: Compared): SavedChange[] {
  const both = now.arms.flatMap((arm) => {
    const before = saved.arms.find(({ name }) => name === arm.name);
    return before === undefined ? [] : [{ arm, before }];
  });
  const timed = both.filter(
    ({ arm, before }) => arm.samples('time').length > 0 && before.samples('time').length > 0,
  );
  const itself = now.nullArm('time') ?? undefined;
  const judged = judgeComparisons(
    timed.map(({ arm, before }) =>
      compareNestedSamples(...asManyOfEach(before.samples('time'), arm.samples('time'))),
    ),
    { margin: now.margin, nullArm: itself && { ...itself, high: itself.high ?? Infinity } },
  );
  return both.map((pair) => ({
    name: pair.arm.name,
    bytes: { before: pair.before.bytes, now: pair.arm.bytes },
    time: judged[timed.indexOf(pair)] ?? null,
  }));
}

/**
 * Returns the samples of an arm then and now, cut to the same number of invocations and rounds. They were not measured side by side, so the
 * ratio includes changes of the machine, and the order of the invocations does not matter.
 */
export function asManyOfEach(then: Samples, today: Samples): [number[][], number[][]] {
  const invocations = Math.min(then.length, today.length);
  const rounds = Math.min(...[...then, ...today].map(({ length }) => length));
  const cut = (samples: Samples) => samples.slice(0, invocations).map((own) => own.slice(0, rounds));
  return [cut(then), cut(today)];
}
