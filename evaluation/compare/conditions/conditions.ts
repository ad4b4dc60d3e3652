import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { compareRatio } from '../../statistics/answers/paired-answers.ts';
import {
  compareNestedSamples,
  type JudgedComparison,
  judgeComparisons,
} from '../../statistics/nested-samples.ts';
import { SAVED, type ThresholdFigures } from '../../statistics/thresholds.ts';
import { formatNetwork } from '../../terminal/table.ts';
import type {
  AdaptersComparison,
  ComparedArm,
  ComparisonFile,
  Metric,
  RightVerdict,
  StacksComparison,
  TeamsComparison,
  TrafficComparison,
} from '../comparison-file.ts';
import { judgeRights, pairAttempts } from '../teams/compare-teams.ts';

/** One arm in the current and the saved comparison. */
interface SavedChange {
  readonly name: string;
  /** Exact bytes, or right answers of teams. */
  readonly before: number;
  readonly now: number;
  /** The verdict on the times, or on the right answers of teams; null if either has none. */
  readonly judged: JudgedComparison | RightVerdict | null;
}

type Rounds = readonly (readonly number[])[];

/** The facts of a comparison that must be known to hold it against a saved one; before it is measured, some are not known yet. */
export type ComparableFacts = Pick<ComparisonFile, 'environment'> &
  Partial<Pick<ComparisonFile, 'kind' | 'baseline'>> &
  Partial<Pick<TrafficComparison, 'run_id' | 'packets' | 'team' | 'engine' | 'agents'>> &
  Partial<Pick<StacksComparison, 'traffic' | 'rate_per_s'>> &
  Partial<Pick<AdaptersComparison, 'network'>> &
  Partial<{ readonly questions: Pick<TeamsComparison['questions'], 'asked' | 'sha256'> }>;

/** The properties that two comparisons must share to be comparable. */
const SHARED: readonly {
  readonly what: string;
  of(facts: ComparableFacts): string | number | undefined;
}[] = [
  { what: 'the processor', of: ({ environment: { cpu } }) => cpu },
  { what: 'the number of cores', of: ({ environment: { cpus } }) => cpus },
  { what: 'the platform', of: ({ environment: { platform, arch } }) => platform && `${platform} ${arch}` },
  { what: 'Node', of: ({ environment: { node } }) => node },
  { what: 'what is compared', of: ({ kind }) => kind },
  { what: 'the recording', of: ({ run_id }) => run_id },
  { what: 'the number of packets', of: ({ packets }) => packets },
  { what: 'the team', of: ({ team }) => team },
  { what: 'the engine', of: ({ engine }) => engine },
  { what: 'the number of agents', of: ({ agents }) => agents },
  { what: 'the baseline', of: ({ baseline }) => baseline },
  {
    what: 'the traffic',
    of: ({ traffic }) => traffic && `${traffic.source}, ${traffic.exchanges} exchanges`,
  },
  {
    what: 'the questions',
    of: ({ questions }) => questions && `${questions.asked}, ${questions.sha256.slice(0, 12)}`,
  },
  { what: 'the rate', of: ({ rate_per_s }) => rate_per_s },
  {
    what: 'the network',
    of: ({ network }) => (network === null ? 'none' : network && formatNetwork(network)),
  },
];

/**
 * Checks that a comparison may be held against a saved one: before minutes are spent on measuring, by the facts that are known
 * then, and afterwards by all of them.
 *
 * @throws MeshError `config` with their differences
 */
export function checkComparable(saved: ComparisonFile, now: ComparableFacts, file: string): void {
  const differences = SHARED.flatMap(({ what, of }) => {
    const [was, is] = [of(saved), of(now)];
    return is === undefined || is === was ? [] : [`${what} (then ${was ?? 'none'}, now ${is})`];
  });
  if (differences.length === 0) return;
  throw new MeshError(
    'config',
    `--baseline ${file} is not comparable with this comparison, because these differ: ${differences.join('; ')}. Save a new baseline with --save-baseline`,
  );
}

/** Returns an arm's name as conditions have it, without spaces: `a2a/jsonrpc:sdk`, and `a2a/jsonrpc:sdk:tls:on` with levels. */
export function toConditionName({ name }: Pick<ComparedArm, 'name'>): string {
  return name.replaceAll(/[ =]/g, ':');
}

/**
 * Judges all arms that are in both comparisons together. Bytes are exact; for times see {@link asManyOfEach}. Teams are compared on the same
 * questions, as teams of one batch are.
 */
export function judgeChanges(saved: ComparisonFile, now: ComparisonFile): SavedChange[] {
  if (now.kind === 'teams') return saved.kind === 'teams' ? judgeTeamChanges(saved, now) : [];
  const both = saved.kind === 'teams' ? [] : pairArms<ComparedArm>(saved.arms, now.arms);
  const timed = both.filter(
    ({ arm, before }) => arm.samples_us.time.length > 0 && before.samples_us.time.length > 0,
  );
  const itself = now.null_test.time;
  const judged = judgeComparisons(
    timed.map(({ arm, before }) =>
      compareNestedSamples(...asManyOfEach(before.samples_us.time, arm.samples_us.time)),
    ),
    {
      margin: now.margin,
      nullArm: itself === null ? undefined : { ...itself, high: itself.high ?? Infinity },
    },
  );
  return both.map((pair) => ({
    name: toConditionName(pair.arm),
    before: pair.before.wire_bytes,
    now: pair.arm.wire_bytes,
    judged: judged[timed.indexOf(pair)] ?? null,
  }));
}

function judgeTeamChanges(saved: TeamsComparison, now: TeamsComparison): SavedChange[] {
  const both = pairArms(saved.arms, now.arms);
  const judged = judgeRights(both.map(({ arm, before }) => [before.samples.right, arm.samples.right]));
  return both.map(({ arm, before }, index) => ({
    name: toConditionName(arm),
    before: before.correct,
    now: arm.correct,
    judged: judged[index] ?? null,
  }));
}

/** Pairs the arms that are in both comparisons. */
function pairArms<Arm extends { readonly name: string }>(
  saved: readonly Arm[],
  now: readonly Arm[],
): { readonly arm: Arm; readonly before: Arm }[] {
  return now.flatMap((arm) => {
    const before = saved.find(({ name }) => name === arm.name);
    return before === undefined ? [] : [{ arm, before }];
  });
}

/**
 * Returns the samples of an arm then and now, cut to the same number of invocations and rounds. They were not measured side by side, so the
 * ratio includes changes of the machine, and the order of the invocations does not matter.
 */
function asManyOfEach(then: Rounds, today: Rounds): [number[][], number[][]] {
  const invocations = Math.min(then.length, today.length);
  const rounds = Math.min(...[...then, ...today].map(({ length }) => length));
  const cut = (samples: Rounds) => samples.slice(0, invocations).map((own) => own.slice(0, rounds));
  return [cut(then), cut(today)];
}

/** Creates the figures that `--fail-if` conditions are evaluated on, from this comparison and the saved one, if there is one. */
export function createThresholdFigures(
  now: ComparisonFile,
  saved: ComparisonFile | undefined,
): ThresholdFigures {
  if (now.kind === 'teams') return createTeamFigures(now, saved?.kind === 'teams' ? saved : undefined);
  const find = (isSaved: boolean, name: string): ComparedArm | undefined => {
    const file = isSaved ? saved : now;
    return file === undefined || file.kind === 'teams' ? undefined : findArm<ComparedArm>(file.arms, name);
  };
  return {
    arms: now.arms.map(toConditionName),
    exact: (name, metric, isSaved) => {
      const arm = find(isSaved, name);
      return metric === 'bytes' ? arm?.wire_bytes : arm?.header_bytes;
    },
    measured: (name, metric, times) => {
      if (metric === 'right') return undefined;
      const own = find(false, name)?.samples_us[metric] ?? [];
      const isSaved = times === SAVED;
      const base =
        times === null
          ? own.map((rounds) => rounds.map(() => 1))
          : (find(isSaved, isSaved ? name : times)?.samples_us[metric] ?? []);
      if (own.length === 0 || base.length === 0) return undefined;
      const [before, after] = isSaved ? asManyOfEach(base, own) : [base, own];
      const ratio = measureRatio(before, after, metric, now.margin);
      const itself = now.null_test[metric];
      const nullArm = itself === null ? undefined : { low: itself.low, high: itself.high ?? Infinity };
      return ratio && { ...ratio, nullArm };
    },
  };
}

/** Creates the figures of teams: the percentage of right answers, as a number or as a ratio on the same questions. */
function createTeamFigures(now: TeamsComparison, saved: TeamsComparison | undefined): ThresholdFigures {
  return {
    arms: now.arms.map(toConditionName),
    exact: () => undefined,
    measured: (name, metric, times) => {
      const arm = findArm(now.arms, name);
      if (metric !== 'right' || arm === undefined) return undefined;
      const { accuracy, low, high } = arm;
      const undecided = { isEquivalent: false, margin: 0 };
      if (times === null)
        return accuracy === null || low === null || high === null
          ? undefined
          : { ratio: 100 * accuracy, low: 100 * low, high: 100 * high, ...undecided };
      const base = times === SAVED ? findArm(saved?.arms ?? [], name) : findArm(now.arms, times);
      const pair = pairAttempts(base?.samples.right ?? [], arm.samples.right);
      return pair.questions.length === 0 ? undefined : { ...compareRatio(pair), ...undecided };
    },
  };
}

function findArm<Arm extends { readonly name: string }>(arms: readonly Arm[], name: string): Arm | undefined {
  return arms.find((arm) => toConditionName(arm) === name);
}

function measureRatio(
  base: readonly (readonly number[])[],
  values: readonly (readonly number[])[],
  metric: Metric,
  margin: number,
) {
  const [judged] = judgeComparisons(
    [compareNestedSamples(base, values, metric === 'first' ? 1 : undefined)],
    { margin },
  );
  if (judged === undefined) return undefined;
  const { ratio, low, high, verdict } = judged;
  return { ratio, low, high, margin, isEquivalent: verdict === 'equivalent' };
}
