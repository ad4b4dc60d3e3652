import { count, formatDecimals, formatNetwork, toOneLine } from '../terminal/table.ts';
import type { AdaptersComparison, ComparedArm, ComparisonFile, StacksComparison } from './comparison-file.ts';
import {
  formatInterval,
  formatName,
  formatNeeded,
  formatVerdict,
  joinNames,
  METRIC_NAMES,
} from './verdict-text.ts';

/** Reasons why the measurement ended. */
const STOPPED: Readonly<Record<ComparisonFile['stopped'], string>> = {
  invocations: 'all that were requested',
  budget: 'all that fit the time budget',
  interrupted: 'until it was interrupted',
};

const NOUNS = { adapters: 'adapter', stacks: 'stack' } as const;

/** Describes the traffic and the number of repetitions. */
export function describePlayed(file: ComparisonFile): string {
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
export function describeNullTest({ baseline, null_test: test }: ComparisonFile): string {
  const { time } = test;
  const itself = `${formatName(baseline)} against itself, in separate processes`;
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
  const open = file.arms.flatMap(({ name, vs_baseline: vs }) =>
    vs?.time?.verdict === 'cannot tell' ? [{ name: formatName(name), time: vs.time }] : [],
  );
  const [first] = open.toSorted((a, b) => (a.time.needed ?? Infinity) - (b.time.needed ?? Infinity));
  if (first === undefined) return null;
  const soonest = open.length === 1 ? first.name : `${first.name}, the soonest of ${open.length}`;
  return `Cannot tell yet (${soonest}): ${formatNeeded(first.time, file)}`;
}

/** Lists the sentences below the tables: the verdicts, the effort for those that are missing, and what the choice affects. */
export function listFindings(file: ComparisonFile): string[] {
  // The sentence on a single pair has its own effort.
  const open = file.arms.length === 2 ? null : describeOpen(file);
  return [file.sentence, open, file.kind === 'adapters' ? describeTaskShare(file) : null].filter(
    (sentence) => sentence !== null,
  );
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
export function formatHeadline(file: ComparisonFile): string {
  return (
    [...describeBytes(file), ...describeTimes(file)].join('; ') ||
    `Nothing was compared with ${formatName(file.baseline)}`
  );
}

/** Names the arms with the fewest and the most bytes against the baseline. */
function describeBytes({ arms, baseline }: ComparisonFile): string[] {
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
function describeTimes({ arms }: ComparisonFile): string[] {
  const judged = arms.flatMap(({ name, vs_baseline: vs }) =>
    vs?.time == null ? [] : [{ name: formatName(name), verdict: formatVerdict(vs.time) }],
  );
  return [...Map.groupBy(judged, ({ verdict }) => verdict)].map(([verdict, own]) => {
    const names = joinArms(own.map(({ name }) => name));
    const are = own.length === 1 ? 'is' : 'are';
    if (verdict === 'cannot tell') return `in time ${names} cannot be told from it yet`;
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
