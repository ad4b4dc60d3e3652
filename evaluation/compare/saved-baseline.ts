import { MeshError } from '../../core/contracts/errors.ts';
import { type JudgedLevels, judgeLevels } from '../statistics/level-verdicts.ts';
import { measureLevels } from '../statistics/levels.ts';
import type { ComparedAdapter, ComparisonFile } from './comparison-file.ts';

/** One adapter now and when it was saved. */
export interface SavedChange {
  readonly adapter: string;
  readonly bytes: { readonly before: number; readonly now: number };
  /** How many times as long it takes as then; null where either has too few invocations for anything. */
  readonly time: JudgedLevels;
}

/** What must be the same, and where it is said. */
const SAME: readonly { readonly what: string; of(file: ComparisonFile): string | number | undefined }[] = [
  { what: 'the recording', of: ({ run_id, packets }) => `${run_id}, ${packets} packets` },
  { what: 'the team', of: ({ team }) => team },
  { what: 'the engine', of: ({ engine }) => engine },
  { what: 'the number of agents', of: ({ agents }) => agents },
  { what: 'the baseline', of: ({ baseline }) => baseline },
];

type Environment = ComparisonFile['environment'];

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
export function checkSameMachine(
  { environment: then }: ComparisonFile,
  now: Environment,
  file: string,
): void {
  refuse(
    SAME_MACHINE.flatMap(({ what, of }) =>
      of(then) === of(now) ? [] : [`${what} (then ${of(then)}, now ${of(now)})`],
    ),
    file,
  );
}

/** @throws MeshError `config` for two comparisons that say nothing about each other, with what is different */
export function checkComparable(saved: ComparisonFile, now: ComparisonFile, file: string): void {
  checkSameMachine(saved, now.environment, file);
  refuse(
    SAME.flatMap(({ what, of }) =>
      of(saved) === of(now) ? [] : [`${what} (then ${of(saved)}, now ${of(now)})`],
    ),
    file,
  );
}

function refuse(differences: readonly string[], file: string): void {
  if (differences.length === 0) return;
  throw new MeshError(
    'config',
    `--baseline ${file}: cannot be compared with this comparison; different are ${differences.join('; ')}. Save one of this setting: --save-baseline`,
  );
}

/** Every adapter that is in both, judged together. Bytes are exact; for times see {@link againstSaved}. */
export function changesSince(saved: ComparisonFile, now: ComparisonFile): SavedChange[] {
  const both = now.adapters.flatMap((row) => {
    const before = saved.adapters.find(({ adapter }) => adapter === row.adapter);
    return before === undefined ? [] : [{ row, before }];
  });
  const judged = judgeLevels(
    both.map(({ row, before }) => measureLevels(...againstSaved(before, row, (one) => one.samples_us))),
    { margin: now.margin },
  );
  return both.flatMap(({ row, before }, index) => {
    const time = judged[index];
    const bytes = { before: before.ledger.total.wire, now: row.ledger.total.wire };
    return time === undefined ? [] : [{ adapter: row.adapter, bytes, time }];
  });
}

/**
 * Samples of an adapter then and now, as two arms. They were not measured side by side, so what changed about the machine between the
 * two is in the ratio: the order of the invocations is any, and as many of each are taken.
 */
export function againstSaved(
  before: ComparedAdapter,
  now: ComparedAdapter,
  samplesOf: (row: ComparedAdapter) => readonly (readonly number[])[],
): [number[][], number[][]] {
  const [then, today] = [samplesOf(before), samplesOf(now)];
  const invocations = Math.min(then.length, today.length);
  const rounds = Math.min(...[...then, ...today].map(({ length }) => length));
  const cut = (samples: readonly (readonly number[])[]) =>
    samples.slice(0, invocations).map((own) => own.slice(0, rounds));
  return [cut(then), cut(today)];
}
