import type { Sample } from './measure-relay.ts';
import { SMALL_BYTES } from './plan.ts';
import type { Outcome, RelayResults } from './run-rounds.ts';
import { PEERS, type TargetName } from './targets.ts';

/** Median of the rounds and their range. */
export interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

/** One figure that the relay is to show. */
export interface Verdict {
  readonly what: string;
  /** Undefined where this run has not measured it. */
  readonly spread: Spread | undefined;
  /** The same ratio of the C relay: what can be reached on this machine without JavaScript. */
  readonly ofC: Spread | undefined;
  readonly floor: number;
  readonly aim: number;
  /** The bounds are upper ones. */
  readonly isAtMost: boolean;
  readonly unit: '×' | 'MB';
  readonly verdict: 'aim reached' | 'reached' | 'not reached' | 'not measured';
}

export function spreadOf(values: readonly number[]): Spread | undefined {
  const sorted = values.filter(Number.isFinite).toSorted((a, b) => a - b);
  const [low] = sorted;
  const high = sorted.at(-1);
  if (low === undefined || high === undefined) return undefined;
  const upper = sorted[Math.floor(sorted.length / 2)] ?? low;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? low;
  return { median: (lower + upper) / 2, low, high };
}

export const rateOf = (sample: Sample): number => sample.rate;
/** Processor time of the hub for one delivery, µs. */
export const cpuOf = (sample: Sample): number => (sample.hub_cpu_s / sample.delivered) * 1e6;
/** Share of the time in which the generator waited, %. */
export const idleOf = (sample: Sample): number => (sample.idle_s / sample.seconds) * 100;
/** Share of the time in which the generator, which never waits at a fixed rate, was let run, %. */
export const ranOf = (sample: Sample): number => (sample.own_cpu_s / sample.seconds) * 100;
const p50Of = (sample: Sample) => sample.latency_us?.p50 ?? Number.NaN;
const p99Of = (sample: Sample) => sample.latency_us?.p99 ?? Number.NaN;

/** Deliveries a second from half a second after the cut-off on. */
export function rateAfterCut({ tenths, cut_s }: Sample): number {
  const after = tenths.slice(Math.ceil((cut_s + 0.5) * 10), -1);
  if (cut_s < 0 || after.length === 0) return Number.NaN;
  return (after.reduce((sum, each) => sum + each, 0) / after.length) * 10;
}

/** Each figure of the requirement with what this run has shown of it. Ratios are taken within a round. */
export function verdictsOf(results: RelayResults): Verdict[] {
  const { outcomes } = results;
  const at = (agents: number, bytes: number) => (outcome: Outcome) =>
    outcome.cell.kind === 'throughput' &&
    outcome.cell.load.agents === agents &&
    outcome.cell.load.bytes === bytes;
  const kind = (name: string) => (outcome: Outcome) => outcome.cell.kind === name;
  /** The hub's values over another's, round by round, in the cells that `where` chooses. */
  const ratios = (
    where: (outcome: Outcome) => boolean,
    other: TargetName,
    value: (sample: Sample) => number,
    own: TargetName = 'hub',
  ) => {
    const chosen = outcomes.filter(where);
    return chosen
      .filter(({ target }) => target === own)
      .flatMap(({ cell, rounds }) => {
        const others = chosen.find((each) => each.cell === cell && each.target === other)?.rounds;
        return [...rounds].flatMap(([round, sample]) => {
          const against = others?.get(round);
          return against === undefined ? [] : [value(sample) / value(against)];
        });
      });
  };
  /** The same, and what the C relay shows in the hub's place. */
  const against = (
    where: (outcome: Outcome) => boolean,
    other: TargetName,
    value: (sample: Sample) => number = rateOf,
  ): Ratios => ({ values: ratios(where, other, value), ofC: ratios(where, other, value, 'C relay') });
  const own = (where: (outcome: Outcome) => boolean, value: (sample: Sample) => number) =>
    outcomes
      .filter((each) => where(each) && each.target === 'hub')
      .flatMap(({ rounds }) => [...rounds.values()].map(value));
  const cells = [...new Set(outcomes.filter(kind('throughput')).map(({ cell }) => cell))];
  const large = cells.filter(({ load }) => load.agents === 4 && load.bytes >= 512);
  const counts = [...new Set(cells.map(({ load }) => load.agents))];
  const saturatedBy = (agents: number) => (outcome: Outcome) =>
    kind('throughput')(outcome) && outcome.cell.load.agents === agents;
  const peers = PEERS.map((peer) => {
    const each = cells
      .filter(({ load }) => load.bytes < 1024 * 1024)
      .map(
        (cell) => spreadOf(ratios((outcome) => outcome.cell === cell, peer, rateOf))?.median ?? Number.NaN,
      );
    return [peer, each] as const;
  });
  const stuck = own(kind('stuck'), rateAfterCut);
  const fewer = own(kind('one fewer'), rateOf);
  return [
    atLeast('rate against NATS, N=4, 512 B', against(at(4, 512), 'NATS'), 4, 6),
    atLeast('rate against NATS, N=16, 512 B', against(at(16, 512), 'NATS'), 6, 10),
    atLeast('rate against NATS, N=4, smallest packets', against(at(4, SMALL_BYTES), 'NATS'), 10, 15),
    atLeast('rate against Redis, N=4, 512 B', against(at(4, 512), 'Redis'), 2.5, 4),
    atLeast(
      'rate against NATS, Node processes with its official client as agents, N=4, 512 B',
      against(kind('Node agents'), 'NATS'),
      3.5,
      5,
    ),
    ...peers.map(([peer, each]) =>
      atLeast(`rate against ${peer}, the worst of all N and sizes to 64 KiB`, lowestOf(each), 1, 1),
    ),
    atLeast('rate against Redis, one in flight', against(kind('one in flight'), 'Redis'), 0.75, 1),
    ...large.flatMap((cell) => {
      const here = (outcome: Outcome) => outcome.cell === cell;
      return [
        atLeast(`rate against raw Node, ${cell.name}`, against(here, 'raw Node'), 0.8, 0.95),
        atLeast(`rate against C, ${cell.name}`, ratios(here, 'C relay', rateOf), 0.75, 0.9),
      ];
    }),
    atLeast(
      'rate against raw Node, N=4, smallest packets',
      against(at(4, SMALL_BYTES), 'raw Node'),
      0.45,
      0.65,
    ),
    atLeast('rate against the naive hub, N=4, 512 B', against(at(4, 512), 'naive'), 80, 150),
    atMost('CPU per delivery against NATS, N=4, 512 B', against(at(4, 512), 'NATS', cpuOf), 1 / 5, 1 / 5),
    atMost('CPU per delivery against Redis, N=4, 512 B', against(at(4, 512), 'Redis', cpuOf), 1 / 3, 1 / 3),
    atMost('median latency against C', ratios(kind('latency'), 'C relay', p50Of), 1.8, 1.4),
    atMost('p99 latency against C', ratios(kind('latency'), 'C relay', p99Of), 5, 2),
    atMost('p99 latency against NATS', against(kind('latency'), 'NATS', p99Of), 1, 1),
    ...counts.map((agents) =>
      atMost(
        `peak RSS, N=${agents}, the highest of all sizes`,
        highestOf(own(saturatedBy(agents), ({ hub_peak_mb }) => hub_peak_mb)),
        80,
        80,
        'MB',
      ),
    ),
    atMost(
      'peak RSS, one never reads',
      own(kind('stuck'), ({ hub_peak_mb }) => hub_peak_mb),
      100,
      100,
      'MB',
    ),
    atLeast(
      'rate 0.5 s after a stuck one is cut off, against N−1',
      stuck.map((rate, i) => rate / (fewer[i] ?? Number.NaN)),
      0.8,
      0.8,
    ),
    atLeast(
      'rate without a peek against NATS, N=4, 512 B',
      ratios(at(4, 512), 'NATS', rateOf, 'no peek'),
      1,
      1,
    ),
    atLeast(
      'null test: the hub against itself, N=4, 512 B',
      ratios(at(4, 512), 'hub again', rateOf),
      0.85,
      0.95,
    ),
  ];
}

function lowestOf(values: readonly number[]): number[] {
  const known = values.filter(Number.isFinite);
  return known.length === 0 ? [] : [Math.min(...known)];
}

function highestOf(values: readonly number[]): number[] {
  return values.length === 0 ? [] : [Math.max(...values)];
}

/** Of the hub, round by round, and of the C relay. */
interface Ratios {
  readonly values: readonly number[];
  readonly ofC: readonly number[];
}

function atLeast(what: string, measured: readonly number[] | Ratios, floor: number, aim: number): Verdict {
  return {
    ...judged(measured, (value) => [value >= floor, value >= aim]),
    what,
    floor,
    aim,
    isAtMost: false,
    unit: '×',
  };
}

function atMost(
  what: string,
  measured: readonly number[] | Ratios,
  floor: number,
  aim: number,
  unit: Verdict['unit'] = '×',
): Verdict {
  return {
    ...judged(measured, (value) => [value <= floor, value <= aim]),
    what,
    floor,
    aim,
    isAtMost: true,
    unit,
  };
}

function judged(
  measured: readonly number[] | Ratios,
  judge: (median: number) => readonly [isReached: boolean, isAim: boolean],
): Pick<Verdict, 'spread' | 'ofC' | 'verdict'> {
  const { values, ofC: yardstick } = 'ofC' in measured ? measured : { values: measured, ofC: [] };
  const spread = spreadOf(values);
  const ofC = spreadOf(yardstick);
  if (spread === undefined) return { spread, ofC, verdict: 'not measured' };
  const [isReached, isAim] = judge(spread.median);
  return { spread, ofC, verdict: isAim ? 'aim reached' : isReached ? 'reached' : 'not reached' };
}
