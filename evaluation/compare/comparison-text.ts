import { MIN_INVOCATIONS, MIN_ROUNDS } from '../statistics/nested-samples.ts';
import { count, formatDecimals, formatNetwork, formatPoints, toOneLine } from '../terminal/table.ts';
import type {
  AdaptersComparison,
  ComparedArm,
  ComparisonFile,
  Metric,
  RightVerdict,
  StacksComparison,
  TeamsComparison,
  TrafficComparison,
  Verdict,
} from './comparison-file.ts';

/** Names of arms that one sentence can hold. */
const MAX_NAMED = 12;
/** Maximum characters of an arm's name in tables and sentences. */
const MAX_NAME = 60;

interface TimedFacts {
  readonly kind: TrafficComparison['kind'];
  readonly baseline: string;
  readonly invocations: number;
  readonly elapsed_ms: number;
  readonly arms: readonly Pick<ComparedArm, 'name' | 'vs_baseline'>[];
}

interface TeamFacts {
  readonly kind: 'teams';
  readonly baseline: string;
  readonly arms: readonly Pick<TeamsComparison['arms'][number], 'name' | 'vs_baseline'>[];
}

/** A verdict on a ratio of costs, or on a difference of right answers. */
type Judged = Verdict | RightVerdict;

/** Words for what the verdicts of each kind of arms are about. */
const MEASURES = { adapters: 'task time', stacks: 'exchange time', teams: 'right answers' } as const;

/** Words for arms without a verdict. */
const UNJUDGED = {
  adapters: 'did not keep up with the rate',
  stacks: 'did not keep up with the rate',
  teams: 'had no question in common with it',
} as const;

/** Words for a difference in either direction. */
const WORDS = {
  time: { good: 'faster', bad: 'slower' },
  first: { good: 'faster', bad: 'slower' },
  saturated: { good: 'faster', bad: 'slower' },
  cpu: { good: 'less', bad: 'more' },
  right: { good: 'better', bad: 'worse' },
} as const;

/** Display names of the metrics. */
export const METRIC_NAMES: Readonly<Record<Metric, string>> = {
  time: 'time',
  cpu: 'CPU time',
  first: 'first use',
  saturated: 'time when saturated',
};

export function formatName(name: string): string {
  return toOneLine(name, MAX_NAME);
}

/**
 * Describes the result for someone who has to choose: one verdict for each pair, with its ratio or difference and interval. Returns null if
 * nothing can be said. A single pair is always described, with the effort that a missing verdict would take.
 */
export function formatVerdicts(file: TimedFacts | TeamFacts): string | null {
  const { kind, baseline } = file;
  const others = listOthers(file);
  const pairs = others.flatMap(({ name, judged }) => (judged === null ? [] : [{ name, judged }]));
  const unjudged = others.filter(({ judged }) => judged === null).map(({ name }) => name);
  const base = formatName(baseline);
  const [only] = pairs;
  if (only !== undefined && others.length === 1) return formatPair(only, base, file);
  const told = pairs.filter(({ judged }) => judged.verdict !== 'cannot tell');
  const open = pairs.filter(({ judged }) => judged.verdict === 'cannot tell').map(({ name }) => name);
  if (told.length + unjudged.length === 0 && (kind !== 'teams' || open.length === 0)) return null;
  const more = told.length - MAX_NAMED;
  const parts = [
    ...told
      .slice(0, MAX_NAMED)
      .map(
        ({ name, judged }) =>
          `${name} is ${formatVerdict(judged)} (${formatEffect(judged)} ${isRight(judged) ? 'points' : 'times'}, ${formatInterval(judged)})`,
      ),
    ...(more > 0 ? [`${more} more are in the table`] : []),
    ...(open.length === 0 ? [] : [`cannot tell for ${joinNames(open)}`]),
    ...(unjudged.length === 0 ? [] : [`${joinNames(unjudged)} ${UNJUDGED[kind]}`]),
  ];
  const itself = only === undefined ? '' : formatNullArm(only.judged, base).replace(/^; (.*)$/, ' ($1)');
  const what = MEASURES[kind];
  return `${what.charAt(0).toUpperCase()}${what.slice(1)} against ${base}${itself}: ${parts.join('; ')}.`;
}

function listOthers(
  file: TimedFacts | TeamFacts,
): { readonly name: string; readonly judged: Judged | null }[] {
  return file.arms.flatMap(({ name, vs_baseline: vs }) =>
    vs === null ? [] : [{ name: formatName(name), judged: 'right' in vs ? vs.right : vs.time }],
  );
}

function formatPair(
  { name, judged }: { readonly name: string; readonly judged: Judged },
  baseline: string,
  file: TimedFacts | TeamFacts,
): string {
  const interval = hasEnds(judged)
    ? `95 % interval ${formatInterval(judged)}`
    : 'too few samples for an interval';
  const of = isRight(judged) ? 'points of' : 'times its';
  const figures = `${formatEffect(judged)} ${of} ${MEASURES[file.kind]} (${interval}${formatNullArm(judged, baseline)})`;
  switch (judged.verdict) {
    case 'different':
      return `${name} is ${formatVerdict(judged)} than ${baseline}: ${figures}.`;
    case 'equivalent':
      return `${name} is as ${isRight(judged) ? 'good' : 'fast'} as ${baseline} ${formatVerdict(judged).replace('equal', 'within')}: ${figures}.`;
    case 'cannot tell': {
      const { good, bad } = WORDS[isRight(judged) ? 'right' : 'time'];
      const least = formatDetectable(judged);
      const unit = isRight(judged) ? `${least} points` : `a factor of ${least}`;
      const shown = least === '–' ? '' : `; ${unit} would have been shown`;
      const more =
        isRight(judged) || file.kind === 'teams'
          ? 'More questions show smaller differences.'
          : formatNeeded(judged, file);
      return `Cannot tell whether ${name} is ${good} or ${bad} than ${baseline}: ${figures}${shown}. ${more}`;
    }
  }
}

function isRight<Own extends object>(judged: Own): judged is Extract<Own, { readonly difference: number }> {
  return 'difference' in judged;
}

/** Formats the number of a measured ratio, `1.12`, or of a difference in points, `+12.5`. */
export function formatEffect(judged: Pick<Verdict, 'ratio'> | Pick<RightVerdict, 'difference'>): string {
  return isRight(judged) ? formatPoints(judged.difference) : formatDecimals(judged.ratio, 2);
}

/** Formats the baseline against itself, which a difference has to exceed; empty where it was shown to be equal, or not measured. */
function formatNullArm(judged: Judged, baseline: string): string {
  if (isRight(judged)) return '';
  const { nullArm, margin } = judged;
  if (nullArm === undefined || nullArm.high === null || !Number.isFinite(nullArm.high)) return '';
  if (Math.max(nullArm.high, 1 / nullArm.low) <= 1 + margin) return '';
  return `; ${baseline} against itself ${formatDecimals(nullArm.ratio, 2)}, ${formatInterval(nullArm)}`;
}

/**
 * Formats the effort that a verdict would take: an expectation from the measured scatter, or the least that any verdict takes, if there is no
 * measure of the scatter.
 */
function formatNeeded(
  { needed, nullArm, rounds, ...interval }: Pick<Verdict, 'needed' | 'nullArm' | 'rounds' | 'low' | 'high'>,
  { invocations, elapsed_ms }: Pick<TimedFacts, 'invocations' | 'elapsed_ms'>,
): string {
  if (needed === null)
    return nullArm !== undefined && (nullArm.low > 1 || (nullArm.high ?? Infinity) < 1)
      ? 'The baseline differs from itself by as much, so more invocations would not help: measure on an idle machine.'
      : 'A verdict would take an impractical number of invocations.';
  const isRoundShort = rounds < MIN_ROUNDS;
  const times = (needed / invocations) * (isRoundShort ? MIN_ROUNDS / rounds : 1);
  const seconds = Math.max(1, Math.ceil(times * (elapsed_ms / 1000)));
  const options = `--invocations ${needed}${isRoundShort ? ` --rounds ${MIN_ROUNDS}` : ''} --budget ${seconds}`;
  return hasEnds(interval)
    ? `If the ratio is as measured, ${needed} invocations give a verdict in four of five measurements: ${options}.`
    : `A verdict takes at least ${MIN_INVOCATIONS} invocations of ${MIN_ROUNDS} rounds, and may take more: ${options}.`;
}

/** Words a verdict with its direction: `slower`, or `more` CPU time, `better` teams, `equal ±5 %`, `cannot tell`. */
export function formatVerdict(
  judged: Pick<Verdict, 'verdict' | 'ratio' | 'margin'> | Pick<RightVerdict, 'verdict' | 'difference'>,
  metric: Metric = 'time',
): string {
  const { verdict } = judged;
  if (verdict === 'cannot tell') return verdict;
  if (isRight(judged))
    return verdict === 'equivalent' ? 'equal' : WORDS.right[judged.difference > 0 ? 'good' : 'bad'];
  return verdict === 'equivalent'
    ? `equal ${formatMargin(judged)}`
    : WORDS[metric][judged.ratio > 1 ? 'bad' : 'good'];
}

/** Formats a margin: `±5 %`. */
export function formatMargin({ margin }: Pick<Verdict, 'margin'>): string {
  return `±${Number((100 * margin).toFixed(2))} %`;
}

/** Formats the interval of a ratio, `1.02–1.19`, or of a difference in points, `−2.1 to +4.3`. */
export function formatInterval(
  interval: Pick<Verdict, 'low' | 'high'> | Pick<RightVerdict, 'difference' | 'low' | 'high'>,
): string {
  if (isRight(interval)) return `${formatPoints(interval.low)} to ${formatPoints(interval.high)}`;
  return hasEnds(interval)
    ? `${formatDecimals(interval.low, 2)}–${formatDecimals(interval.high, 2)}`
    : 'too few samples';
}

/** Returns whether there were enough invocations for an interval; its upper end is ∞, or null in JSON, if there were not. */
function hasEnds(interval: Pick<Verdict, 'low' | 'high'>): interval is { low: number; high: number } {
  return interval.high !== null && Number.isFinite(interval.high);
}

/** Formats the smallest ratio that this many invocations could have shown, `1.12`, or difference in points, `12.5`; `–` if they could show none. */
export function formatDetectable(
  judged: Pick<Verdict, 'detectable'> | Pick<RightVerdict, 'difference' | 'detectable'>,
): string {
  const { detectable } = judged;
  if (detectable === null || !Number.isFinite(detectable)) return '–';
  if (isRight(judged)) return formatDecimals(100 * detectable, 1);
  return formatDecimals(detectable, detectable < 1.1 ? 3 : 2);
}

/** Joins names: `a`, `a and b`, `a, b and c`. */
function joinNames(names: readonly string[]): string {
  return names.length < 2 ? names.join() : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

/** Reasons why the measurement ended. */
const STOPPED: Readonly<Record<TrafficComparison['stopped'], string>> = {
  invocations: 'all that were requested',
  budget: 'all that fit the time budget',
  interrupted: 'until it was interrupted',
};

const NOUNS = { adapters: 'adapter', stacks: 'stack' } as const;

/** Describes the traffic and the number of repetitions. */
export function describePlayed(file: ComparisonFile): string {
  if (file.kind === 'teams') {
    const { asked, source, repeat } = file.questions;
    const times = repeat === 1 ? '' : `, each ${repeat} times`;
    return `${formatNumber(asked, 'question')} of ${toOneLine(source ?? 'a scoring API', 120)}${times}`;
  }
  const { kind, invocations, rounds, stopped, lost_invocations: lost, seed } = file;
  const passes = kind === 'adapters' ? `, ${formatNumber(file.passes, 'pass', 'passes')} a round` : '';
  const network =
    kind === 'adapters' && file.network !== null ? `, network ${formatNetwork(file.network)}` : '';
  const repeated = lost === 0 ? '' : `, ${lost} played again`;
  return (
    `${kind === 'adapters' ? describePackets(file) : describeExchanges(file)}${network}; ${formatNumber(invocations, 'invocation')} of each ` +
    `${NOUNS[kind]} in fresh processes (${STOPPED[stopped]}${repeated}), ${formatNumber(rounds, 'round')} in each${passes}; seed ${seed}`
  );
}

function describePackets({ packets, tasks }: AdaptersComparison): string {
  return `${formatNumber(packets, 'packet')} of ${formatNumber(tasks, 'task')}`;
}

function describeExchanges({ traffic, rate_per_s }: StacksComparison): string {
  const { smallest, median, largest } = traffic.payload_bytes;
  return (
    `${formatNumber(traffic.exchanges, 'exchange')} (${toOneLine(traffic.source, 120)}; payloads of ${count(smallest)} to ${count(largest)} B, ` +
    `half of them at most ${count(median)} B), ${rate_per_s} a second for times`
  );
}

function formatNumber(number: number, noun: string, nouns = `${noun}s`): string {
  return `${count(number)} ${number === 1 ? noun : nouns}`;
}

const NULL_FOUND = {
  different: 'so something other than the arms made a difference: no difference of a similar size is called',
  equivalent: 'as expected',
  'cannot tell': 'which is not precise enough for a verdict',
} as const;

/** Describes the comparison of the baseline with itself, which should find no difference: in its time, and in what differs nevertheless. */
export function describeNullTest(file: ComparisonFile): string {
  const base = formatName(file.baseline);
  if (file.kind === 'teams') {
    const { right } = file.null_test;
    if (right === null)
      return `${base} was asked once, so it is not compared with itself: --repeat 2 does that`;
    const found =
      right.verdict === 'different' ? 'so it learned, or it is chance' : 'no difference, as expected';
    return `${base} against itself, second attempts against first: ${formatEffect(right)} points (${formatInterval(right)}), ${found}`;
  }
  const { null_test: test } = file;
  const { time } = test;
  const itself = `${base} against itself, in separate processes`;
  const differs = (['cpu', 'first', 'saturated'] as const).flatMap((metric) => {
    const verdict = test[metric];
    return verdict?.verdict === 'different'
      ? [`${METRIC_NAMES[metric]} ${formatDecimals(verdict.ratio, 3)} times (${formatInterval(verdict)})`]
      : [];
  });
  const found =
    time === null
      ? 'it did not keep up with the rate'
      : `${formatDecimals(time.ratio, 3)} times (${formatInterval(time)}), ${NULL_FOUND[time.verdict]}`;
  return [`${itself}: ${found}`, ...differs].join('; ');
}

/** Describes the effort that the cheapest missing verdict would take; null if there is a verdict for every pair. */
export function describeOpen(file: ComparisonFile): string | null {
  if (file.kind === 'teams') return null;
  const open = file.arms.flatMap(({ name, vs_baseline: vs }) =>
    vs?.time?.verdict === 'cannot tell' ? [{ name: formatName(name), time: vs.time }] : [],
  );
  const [first] = open.toSorted((a, b) => (a.time.needed ?? Infinity) - (b.time.needed ?? Infinity));
  if (first === undefined) return null;
  const soonest = open.length === 1 ? first.name : `${first.name}, the soonest of ${open.length}`;
  return `Cannot tell yet (${soonest}): ${formatNeeded(first.time, file)}`;
}

/** Describes the share of a task's time that the choice of adapter affects. */
export function describeTaskShare({ arms, baseline, task_ms, tasks }: AdaptersComparison): string {
  const ofPackets = (findArm(arms, baseline)?.latency_us?.p50 ?? 0) / 1000 / tasks;
  const name = formatName(baseline);
  // The recording knows of no tool time.
  if (!(task_ms > ofPackets))
    return `The packets of a task take ${formatDecimals(ofPackets, 1)} ms through ${name}; the time of its tools is not known.`;
  return (
    `A task takes ${formatDecimals(task_ms, 1)} ms with its tools; its packets through ${name} take ` +
    `${formatDecimals(ofPackets, 1)} ms of that.`
  );
}

/**
 * Formats the answer in one sentence: the bytes, which are exact, and which arms are slower or faster.
 */
export function formatHeadline(file: TrafficComparison): string {
  return (
    [...describeBytes(file), ...describeTimes(file)].join('; ') ||
    `Nothing was compared with ${formatName(file.baseline)}`
  );
}

/** Names the arms with the fewest and the most bytes against the baseline. */
function describeBytes({ arms, baseline }: TrafficComparison): string[] {
  const byBytes = arms
    .flatMap(({ name, vs_baseline: vs }) =>
      vs === null ? [] : [{ name: formatName(name), ratio: vs.bytes.ratio }],
    )
    .toSorted((a, b) => a.ratio - b.ratio);
  const [least, most] = [byBytes[0], byBytes.at(-1)];
  if (least === undefined || most === undefined) return [];
  const formatTimes = (ratio: number) => `${formatDecimals(ratio, 2)}× the bytes of ${formatName(baseline)}`;
  if (least.ratio === most.ratio) {
    const names = `${joinArms(byBytes.map(({ name }) => name))} ${byBytes.length === 1 ? 'takes' : 'take'}`;
    const same = `as many bytes as ${formatName(baseline)}`;
    return [`${names} ${least.ratio === 1 ? same : formatTimes(least.ratio)}`];
  }
  return [`${least.name} takes ${formatTimes(least.ratio)}, ${most.name} ${formatDecimals(most.ratio, 2)}×`];
}

/** Groups the arms by the verdict on their times. */
function describeTimes({ arms }: TrafficComparison): string[] {
  const judged = arms.flatMap(({ name, vs_baseline: vs }) =>
    vs?.time == null ? [] : [{ name: formatName(name), verdict: formatVerdict(vs.time) }],
  );
  return [...Map.groupBy(judged, ({ verdict }) => verdict)].map(([verdict, own]) => {
    const names = joinArms(own.map(({ name }) => name));
    const are = own.length === 1 ? 'is' : 'are';
    if (verdict === 'cannot tell' && own.length > 1 && own.length === judged.length)
      return 'which is faster cannot be told yet';
    if (verdict === 'cannot tell') return `whether ${names} ${are} faster or slower cannot be told yet`;
    return verdict.startsWith('equal')
      ? `${names} ${are} as fast (${verdict.replace('equal ', '')})`
      : `${names} ${are} ${verdict}`;
  });
}

/** Joins as many names as a headline holds. */
function joinArms(names: readonly string[]): string {
  return names.length > 3 ? `${names.slice(0, 2).join(', ')} and ${names.length - 2} more` : joinNames(names);
}

/** Lists the arms that are missing from the tables, with the reason. */
export function listAbsences({ left_out, failed }: ComparisonFile): string[] {
  return [...left_out.map((what) => `not measured: ${what}`), ...failed.map((what) => `FAILED: ${what}`)];
}

function findArm<Arm extends Pick<ComparedArm, 'name'>>(arms: readonly Arm[], name: string): Arm | undefined {
  return arms.find((arm) => arm.name === name);
}
