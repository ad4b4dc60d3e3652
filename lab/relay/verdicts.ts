import { type Estimate, estimateMedian } from '../measure/rounds.ts';
import { SMALL_BYTES } from './loads.ts';
import { estimateFigure, type RelayOutcome, type RelayResults } from './relay-rounds.ts';
import type { Figure } from './sample.ts';
import { PEERS, type TargetName } from './targets.ts';

/** One requirement for the relay, with the evidence of this run. */
export interface Verdict {
  readonly what: string;
  /** Undefined if this run has not measured it. */
  readonly estimate: Estimate | undefined;
  /** The ratio to the C relay in place of the flood, which is the limit of this machine without JavaScript. */
  readonly ofC: Estimate | undefined;
  readonly bound: 'at least' | 'at most';
  readonly floor: number;
  readonly aim: number;
  readonly unit: '' | 'MB';
  /** Judgement by the whole interval: an interval that contains the floor cannot tell. */
  readonly verdict: 'aim reached' | 'reached' | 'not reached' | 'cannot tell' | 'not measured';
}

type FloorAndAim = readonly [floor: number, aim: number];
type Where = (outcome: RelayOutcome) => boolean;

const matchKind =
  (name: RelayOutcome['load']['kind']): Where =>
  ({ load }) =>
    load.kind === name;
const matchThroughput =
  (agents: number, bytes: number): Where =>
  ({ load }) =>
    load.kind === 'throughput' && load.agents === agents && load.bytes === bytes;
const FOUR = matchThroughput(4, 512);
const SMALL = matchThroughput(4, SMALL_BYTES);

/** Targets of the flood against others: a minimum for rates, a maximum for every other figure. */
const AGAINST: readonly (readonly [string, Where, TargetName, FloorAndAim, Figure?])[] = [
  ['rate against NATS, N=4, 512 B', FOUR, 'NATS', [2, 4]],
  ['rate against NATS, N=16, 512 B', matchThroughput(16, 512), 'NATS', [6, 10]],
  ['rate against NATS, N=4, smallest packets', SMALL, 'NATS', [10, 15]],
  ['rate against Redis, N=4, 512 B', FOUR, 'Redis', [2, 2.5]],
  ['rate against Redis, one in flight', matchKind('one in flight'), 'Redis', [0.75, 1]],
  ['rate against the Node relay, N=4, 512 B', FOUR, 'Node relay', [0.9, 1]],
  ['CPU per delivery against NATS, N=4, 512 B', FOUR, 'NATS', [1 / 5, 1 / 5], 'hub_cpu_us'],
  ['CPU per delivery against Redis, N=4, 512 B', FOUR, 'Redis', [1 / 3, 1 / 3], 'hub_cpu_us'],
  ['median latency against C', matchKind('latency'), 'C relay', [1.8, 1.4], 'p50_us'],
  ['p99 latency against C', matchKind('latency'), 'C relay', [5, 2], 'p99_us'],
  ['p99 latency against the Node relay', matchKind('latency'), 'Node relay', [1.5, 1], 'p99_us'],
  ['p99.9 latency against the Node relay', matchKind('latency'), 'Node relay', [2, 1], 'p999_us'],
  ['p99 latency against NATS', matchKind('latency'), 'NATS', [1.5, 1], 'p99_us'],
  ['p99.9 latency against NATS', matchKind('latency'), 'NATS', [2, 1], 'p999_us'],
];

/** Lists each figure of the requirements with the evidence of these rounds. */
export function listVerdicts({ outcomes }: RelayResults): Verdict[] {
  const readFigures = (where: Where, figure: Figure) =>
    outcomes
      .filter((outcome) => outcome.target === 'flood' && where(outcome))
      .flatMap(({ rounds }) => [...rounds.values()].map((sample) => sample[figure]));
  const ratios = (where: Where, own: TargetName, other: TargetName, figure: Figure = 'rate') =>
    outcomes
      .filter((outcome) => outcome.target === own && where(outcome))
      .flatMap(({ load, rounds }) => {
        const others = outcomes.find((each) => each.load === load && each.target === other)?.rounds;
        // Ratios are only formed within a round.
        return [...rounds].map(([round, sample]) => {
          const against = others?.get(round);
          return against === undefined ? Number.NaN : sample[figure] / against[figure];
        });
      });
  const loads = [...new Set(outcomes.filter(matchKind('throughput')).map(({ load }) => load))];
  const onFour = loads.filter(({ agents, bytes }) => agents === 4 && bytes >= 512);
  const large: typeof AGAINST = onFour.map((load) => [
    `rate against C, ${load.name}`,
    (each: RelayOutcome) => each.load === load,
    'C relay',
    [0.75, 0.95],
  ]);
  const worst = (peer: TargetName) => {
    const medians = loads
      .filter(({ bytes }) => bytes < 1024 * 1024)
      .flatMap((load) => estimateMedian(ratios((each) => each.load === load, 'flood', peer))?.median ?? []);
    return medians.length === 0 ? [] : [Math.min(...medians)];
  };
  const peaks = (agents: number) => {
    const all = readFigures(
      ({ load }) => load.kind === 'throughput' && load.agents === agents,
      'hub_peak_mb',
    );
    return all.length === 0 ? [] : [Math.max(...all)];
  };
  const fewer = readFigures(matchKind('one fewer'), 'thousands');
  const afterCut = readFigures(matchKind('stuck'), 'thousands_after_cut');
  return [
    judge(
      'rate of a run against its flood, N=4, 512 B',
      'at least',
      ratios(FOUR, 'run', 'flood'),
      [0.5, 0.6],
    ),
    ...[...AGAINST, ...large].map(([what, where, other, limits, figure]) => {
      const values = ratios(where, 'flood', other, figure);
      const ofC = other === 'C relay' ? [] : ratios(where, 'C relay', other, figure);
      return judge(what, figure === undefined ? 'at least' : 'at most', values, limits, { ofC });
    }),
    ...PEERS.map((peer) =>
      judge(`rate against ${peer}, the worst of all N and sizes to 64 KiB`, 'at least', worst(peer), [1, 1]),
    ),
    ...[...new Set(loads.map(({ agents }) => agents))].map((agents) =>
      judge(`peak RSS, N=${agents}, the highest of all sizes`, 'at most', peaks(agents), [80, 80], {
        unit: 'MB',
      }),
    ),
    judge(
      'peak RSS, one never reads',
      'at most',
      readFigures(matchKind('stuck'), 'hub_peak_mb'),
      [100, 100],
      {
        unit: 'MB',
      },
    ),
    judge(
      'rate 0.5 s after a stuck one is cut off, against N−1',
      'at least',
      afterCut.map((thousands, i) => thousands / (fewer[i] ?? Number.NaN)),
      [0.8, 0.8],
    ),
    judge(
      'null test: the flood against itself, N=4, 512 B',
      'at least',
      ratios(FOUR, 'flood', 'flood again'),
      [0.85, 0.95],
    ),
  ];
}

interface More {
  readonly ofC?: readonly number[];
  readonly unit?: Verdict['unit'];
}

function judge(
  what: string,
  bound: Verdict['bound'],
  values: readonly number[],
  [floor, aim]: FloorAndAim,
  { ofC = [], unit = '' }: More = {},
): Verdict {
  const estimate = estimateMedian(values);
  const holds = (value: number, limit: number) => (bound === 'at least' ? value >= limit : value <= limit);
  const verdict = estimate === undefined ? 'not measured' : nameVerdict(estimate, [floor, aim], holds);
  return { what, estimate, ofC: estimateMedian(ofC), bound, floor, aim, unit, verdict };
}

function nameVerdict(
  { low, high }: Estimate,
  [floor, aim]: FloorAndAim,
  holds: (value: number, limit: number) => boolean,
): Verdict['verdict'] {
  const isBeyond = (limit: number) => holds(low, limit) && holds(high, limit);
  if (isBeyond(aim)) return 'aim reached';
  if (isBeyond(floor)) return 'reached';
  return holds(low, floor) || holds(high, floor) ? 'cannot tell' : 'not reached';
}

/** Idle percentage below which the generator may be the limit. */
const MIN_IDLE_PERCENT = 5;
/** Ratio below which a difference means nothing on a machine that changes its speed. */
const CLEARLY_FASTER = 1.15;

/**
 * Lists the loads in which the generator may have limited the flood: it was hardly idle, and the C relay got
 * no more out of it. In all other loads the hub was the limit.
 */
export function listUnsureLoads({ outcomes }: RelayResults): string[] {
  const floods = outcomes.filter(({ load, target }) => load.kind === 'throughput' && target === 'flood');
  return floods
    .filter((flood) => {
      const relay = outcomes.find(({ load, target }) => load === flood.load && target === 'C relay');
      const faster = [...flood.rounds].map(
        ([round, { rate }]) => (relay?.rounds.get(round)?.rate ?? Number.NaN) / rate,
      );
      const idle = estimateFigure([flood], 'idle_percent')?.median ?? 0;
      return idle < MIN_IDLE_PERCENT && (estimateMedian(faster)?.median ?? 0) < CLEARLY_FASTER;
    })
    .map(({ load }) => load.name);
}
