import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { type JudgedComparison, judgeComparisons } from '../../statistics/level-verdicts.ts';
import { compareNestedSamples } from '../../statistics/levels.ts';
import type { Compared, Samples } from './compared.ts';

/** One arm now and when it was saved. */
export interface SavedChange {
  readonly name: string;
  readonly bytes: { readonly before: number; readonly now: number };
  /** How many times as long it takes as then; null where either has no times. */
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

/** Before the minutes that it takes. @throws MeshError `config` for a comparison that another machine or Node made */
export function checkSameMachine({ environment: then }: Compared, now: Environment, file: string): void {
  refuse(
    SAME_MACHINE.flatMap(({ what, of }) => describeDifference(what, of(then), of(now))),
    file,
  );
}

/** @throws MeshError `config` for two comparisons that say nothing about each other, with what is different */
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
    `--baseline ${file}: cannot be compared with this comparison; different are ${differences.join('; ')}. Save one of this setting: --save-baseline`,
  );
}

/** Every arm that is in both, judged together. Bytes are exact; for times see {@link asManyOfEach}. */
export function judgeChanges(saved: Compared, now: Compared): SavedChange[] {
  const both = now.arms.flatMap((arm) => {
    const before = saved.arms.find(({ name }) => name === arm.name);
    return before === undefined ? [] : [{ arm, before }];
  });
  const timed = both.filter(
    ({ arm, before }) => arm.samples('time').length > 0 && before.samples('time').length > 0,
  );
  const judged = judgeComparisons(
    timed.map(({ arm, before }) =>
      compareNestedSamples(...asManyOfEach(before.samples('time'), arm.samples('time'))),
    ),
    { margin: now.margin },
  );
  return both.map((pair) => ({
    name: pair.arm.name,
    bytes: { before: pair.before.bytes, now: pair.arm.bytes },
    time: judged[timed.indexOf(pair)] ?? null,
  }));
}

/**
 * Samples of an arm then and now, as two arms. They were not measured side by side, so what changed about the machine between the
 * two is in the ratio: the order of the invocations is any, and as many of each are taken.
 */
export function asManyOfEach(then: Samples, today: Samples): [number[][], number[][]] {
  const invocations = Math.min(then.length, today.length);
  const rounds = Math.min(...[...then, ...today].map(({ length }) => length));
  const cut = (samples: Samples) => samples.slice(0, invocations).map((own) => own.slice(0, rounds));
  return [cut(then), cut(today)];
}
