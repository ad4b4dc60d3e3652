import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { DirectionBytes, WireBytes } from '@gaia-mesh/stacks/contract/wire-sum.ts';
import { sumWireBytes } from '@gaia-mesh/stacks/contract/wire-sum.ts';
import { computeMedian, computePercentile } from '../../statistics/inference/quantile.ts';
import type { StackArm } from '../comparison-file.ts';
import type { InvocationPlan, Session } from '../experiment.ts';
import { Pair, type PairOptions } from './peers/pair.ts';
import type { CpuUs, Part, PlannedExchange } from './peers/protocol.ts';

/** The load of one pair of fresh processes. */
interface PairProtocol {
  /** Milliseconds for the rounds and the warm-up, without set-up, byte counts and load curve. */
  readonly budgetMs: number;
  readonly rounds: number;
  readonly concurrency: readonly number[];
  /** Exchanges a second of the open load. */
  readonly ratePerS: number;
  /** Counts the bytes of each exchange once. */
  readonly countsBytes: boolean;
  /** Raises the load until the pair is overloaded. */
  readonly raisesLoad: boolean;
  /** Maximum concurrent exchanges: their messages are in memory several times at both ends. */
  readonly maxInFlight: number;
}

export interface Round {
  /** CPU microseconds of an exchange, one at a time. */
  readonly cpuUs: { readonly client: CpuUs; readonly server: CpuUs };
  /** Microseconds from the due time of each exchange of the open load; null if the rate was too high. */
  readonly latencyUs: readonly number[] | null;
  /** Microseconds by which the load itself was late. */
  readonly lateUs: number;
  /** Exchanges a second, for each concurrency. */
  readonly perS: readonly number[];
}

/** Bytes of one pass through all exchanges with an answer, and one through all others, on a session in use. */
interface CountedBytes {
  readonly answered: WireBytes;
  readonly oneWay: WireBytes;
  /** Additional bytes of the first pass: connections that open and tables that fill at first use. */
  readonly firstUse: { readonly sent: number; readonly received: number };
}

/** Round trips as the network between the ends saw them. */
interface RoundTrips {
  /** Those of the set-up and of the connections that are opened at first use: what the first exchange takes more than others. */
  readonly setup: number;
  /** Round trips of an exchange with an answer, one at a time. */
  readonly exchange: number;
  /** Milliseconds from the beginning of the set-up to the first answer. */
  readonly firstAnswerMs: number;
}

/** Results of one pair of fresh processes. */
export interface Invocation {
  readonly setup: Pair['setup'];
  /** Null if bytes were not counted. */
  readonly bytes: CountedBytes | null;
  /** Null without a network, or if bytes were not counted. */
  readonly roundTrips: RoundTrips | null;
  readonly rounds: readonly Round[];
  readonly curve: readonly LoadPoint[] | null;
  readonly rssBytes: { readonly client: number; readonly server: number };
}

/** Maximum milliseconds of a pass, which is always complete: a stack that takes longer does not work. */
const PASS_MS = 60_000;
/** Exchanges whose round trips are counted. */
const TRIP_EXCHANGES = 10;
/** Concurrent exchanges in a pass whose answers take time. */
const PASS_CONCURRENCY = 16;
/** Share of the budget for the warm-up; the rounds share the rest. */
const WARM_UP = 0.15;
const WARM_UP_CONCURRENCY = 4;
const SHARES = { one: 0.2, open: 0.4, saturated: 0.4 };
const MAX_COUNT = 20_000;
/** Time that a load curve may take in any case, if it is left. */
const CURVE_MS = 3500;
/** Minimum exchanges of an open load; with fewer, a percentile would be chance. */
const MIN_OPEN = 20;

/** Starts a pair of fresh processes that is measured. */
export async function openPairSession(
  options: PairOptions,
  protocol: PairProtocol,
  { plannedEndMs, signal }: InvocationPlan,
): Promise<Session<Invocation>> {
  const { countsBytes, maxInFlight, raisesLoad, budgetMs } = protocol;
  const beganMs = performance.now();
  // A forwarder that counts for an end in another language would be in the way of its times.
  const uncounted = { ...options, settings: { ...options.settings, countsBytes: false } };
  const pair = await Pair.start(uncounted, signal);
  const rounds: Round[] = [];
  let { setup } = pair;
  let bytes: Invocation['bytes'] = null;
  let roundTrips: Invocation['roundTrips'] = null;
  let curve: Invocation['curve'] = null;
  let rssBytes = { client: 0, server: 0 };
  return {
    async begin() {
      if (!countsBytes) return;
      if (options.network != null) roundTrips = await countRoundTrips(options, signal);
      const counted = pair.isCounted ? pair : await Pair.start(options, signal);
      try {
        bytes = await countBytes(counted, options, maxInFlight);
        setup = { ...setup, wire: counted.setup.wire };
      } finally {
        if (counted !== pair) await counted.stop();
      }
    },
    async warmUp() {
      // Exchanges that have taken most of the time so far have warmed up the pair as well.
      const isWarm = performance.now() - beganMs >= (plannedEndMs - beganMs) / 2;
      if (!isWarm) await warmUp(pair, protocol);
    },
    async round() {
      const played = await playRound(pair, protocol, plannedEndMs);
      const [client, server] = await pair.count();
      rounds.push(played);
      rssBytes = { client: client.rssBytes, server: server.rssBytes };
    },
    /** Measures the load curve, which takes no longer than the rounds. */
    async finish() {
      if (!raisesLoad || performance.now() >= plannedEndMs) return;
      const fastest = Math.max(...rounds.flatMap(({ perS }) => perS));
      const endMs = Math.min(plannedEndMs, performance.now() + Math.max(budgetMs, CURVE_MS));
      const points = await loadCurve(pair, fastest, { maxWaiting: maxInFlight, endMs });
      curve = points.length === 0 ? null : points;
    },
    result: () => ({ setup, bytes, roundTrips, rounds: [...rounds], curve, rssBytes }),
    stop: () => pair.stop(),
  };
}

/**
 * Counts the bytes of one pass, separately for answered exchanges and others. Each is preceded by an uncounted pass: on HTTP/2 the headers
 * of the first requests fill a table that later ones refer to, and one-time costs of a session do not belong to an exchange.
 */
async function countBytes(pair: Pair, options: PairOptions, maxInFlight: number): Promise<CountedBytes> {
  const { exchanges, workMs, network } = options;
  const isSlow = workMs > 0 || network != null;
  const concurrency = isSlow ? Math.min(PASS_CONCURRENCY, maxInFlight) : 1;
  const firstUse = { sent: 0, received: 0 };
  const passOf = async (part: Part, count: number) => {
    if (count === 0) return sumWireBytes([]);
    const pass = { kind: 'closed', count, concurrency, maxMs: PASS_MS } as const;
    const first = (await pair.play(pass, { part })).wire;
    const { wire } = await pair.play(pass, { part });
    firstUse.sent += subtractFraming(first.sent, wire.sent);
    firstUse.received += subtractFraming(first.received, wire.received);
    return wire;
  };
  const answered = exchanges.filter(({ replies }) => replies.length > 0).length;
  return {
    answered: await passOf('answered', answered),
    oneWay: await passOf('one-way', exchanges.length - answered),
    firstUse,
  };
}

/**
 * Counts round trips in a session of its own, since the first exchange of one is counted apart.
 *
 * @throws MeshError `config` for a stack whose connections do not pass the network
 */
async function countRoundTrips(options: PairOptions, signal: AbortSignal): Promise<RoundTrips | null> {
  if (!options.exchanges.some(({ replies }) => replies.length > 0)) return null;
  const pair = await Pair.start(options, signal);
  try {
    const play = async (count: number) => {
      const { timesUs } = await pair.play({ kind: 'closed', count, concurrency: 1, maxMs: PASS_MS });
      return { us: timesUs[0] ?? 0, roundTrips: (await pair.countRoundTrips()) ?? 0 };
    };
    const first = await play(1);
    if (first.roundTrips === 0)
      throw new MeshError(
        'config',
        `the connections of ${options.stack.name} do not pass the network: its server must give out settings.advertisedPort, and return its own port`,
      );
    const exchange = ((await play(TRIP_EXCHANGES)).roundTrips - first.roundTrips) / TRIP_EXCHANGES;
    const firstAnswerMs = pair.setup.ms + first.us / 1000;
    return { setup: first.roundTrips - exchange, exchange, firstAnswerMs };
  } finally {
    await pair.stop();
  }
}

/** Returns the difference of the bytes around messages; the messages themselves differ by their ids. */
function subtractFraming(first: DirectionBytes, second: DirectionBytes): number {
  return Math.max(0, first.tls + first.head - second.tls - second.head);
}

async function warmUp(pair: Pair, { budgetMs, maxInFlight }: PairProtocol): Promise<void> {
  const concurrency = Math.min(WARM_UP_CONCURRENCY, maxInFlight);
  await pair.play({ kind: 'closed', count: MAX_COUNT, concurrency, maxMs: budgetMs * WARM_UP });
}

async function playRound(
  pair: Pair,
  { budgetMs, concurrency, ratePerS, maxInFlight, rounds }: PairProtocol,
  plannedEndMs: number,
): Promise<Round> {
  const roundMs = (budgetMs * (1 - WARM_UP)) / rounds;
  const one = await pair.play({
    kind: 'closed',
    count: MAX_COUNT,
    concurrency: 1,
    maxMs: roundMs * SHARES.one,
  });
  const openMs = roundMs * SHARES.open;
  const count = Math.min(MAX_COUNT, Math.max(MIN_OPEN, Math.round((openMs * ratePerS) / 1000)));
  // At a low rate the fewest exchanges take longer, but not the time of the other rounds.
  const leastMs = Math.min((MIN_OPEN / ratePerS) * 1000, (plannedEndMs - performance.now()) / rounds);
  const open = await pair.play({
    kind: 'open',
    count,
    ratePerS,
    maxMs: Math.max(openMs, leastMs),
    maxWaiting: maxInFlight,
  });
  const perS: number[] = [];
  for (const level of concurrency) {
    const maxMs = (roundMs * SHARES.saturated) / concurrency.length;
    const load = await pair.play({ kind: 'closed', count: MAX_COUNT, concurrency: level, maxMs });
    perS.push((load.count / load.elapsedMs) * 1000);
  }
  return {
    cpuUs: { client: divideCpu(one.client, one.count), server: divideCpu(one.server, one.count) },
    latencyUs: open.isOverloaded ? null : open.timesUs,
    lateUs: open.lateUs,
    perS,
  };
}

function divideCpu({ user, system }: CpuUs, count: number): CpuUs {
  return { user: user / count, system: system / count };
}

/** Returns the median latency of a round's open load; null if its rate was too high. */
export function medianLatency({ latencyUs }: Round): number | null {
  return latencyUs === null ? null : computePercentile(latencyUs, 0.5);
}

/** Returns the milliseconds and the bytes of one exchange with an answer, where they are known. */
export function sampleStack({ rounds, bytes }: Invocation, exchanges: readonly PlannedExchange[]) {
  const latencies = rounds.map(medianLatency).filter((us) => us !== null);
  const answered = exchanges.filter(({ replies }) => replies.length > 0).length;
  const counted = bytes === null ? 0 : bytes.answered.sent.raw + bytes.answered.received.raw;
  return {
    ms: latencies.length === 0 ? null : computeMedian(latencies) / 1000,
    bytes: bytes === null || answered === 0 ? null : Math.round(counted / answered),
  };
}

/** Result of an open load at one rate; without times if too many exchanges were waiting. */
type LoadPoint = NonNullable<StackArm['curve']>[number];

/** Loads as shares of the saturated throughput, close together where the queue begins. */
const CURVE_SHARES = [0.1, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 1];
const CURVE_POINT_MS = 400;
const MIN_POINT_COUNT = 100;
const MAX_POINT_COUNT = 5000;
/**
 * Factor over the lowest load's median that marks the knee. Past it the times grow as long as the load lasts, so further points would only
 * show its duration.
 */
const KNEE = 10;

/**
 * Raises an open load step by step until an exchange takes ten times as long as at the lowest load, or the ends fall behind.
 *
 * @param saturatedPerS exchanges a second if each begins as soon as the previous one ends
 * @param extent number of waiting exchanges that is too high, and the time at which the last step has begun
 */
async function loadCurve(
  pair: Pair,
  saturatedPerS: number,
  { maxWaiting, endMs }: { readonly maxWaiting: number; readonly endMs: number },
): Promise<readonly LoadPoint[]> {
  const points: LoadPoint[] = [];
  for (const share of CURVE_SHARES) {
    const ratePerS = saturatedPerS * share;
    const count = Math.min(
      MAX_POINT_COUNT,
      Math.max(MIN_POINT_COUNT, Math.round((ratePerS * CURVE_POINT_MS) / 1000)),
    );
    if (performance.now() + (count / ratePerS) * 1000 > endMs) break;
    const load = { kind: 'open', count, ratePerS, maxWaiting } as const;
    const { timesUs, elapsedMs, isOverloaded, count: n } = await pair.play(load);
    const times = isOverloaded ? null : timesUs;
    points.push({
      offered_per_s: ratePerS,
      achieved_per_s: (n / elapsedMs) * 1000,
      n,
      p50_us: times === null ? null : computePercentile(times, 0.5),
      p99_us: times === null || n < MIN_POINT_COUNT ? null : computePercentile(times, 0.99),
    });
    const [lowest] = points;
    const last = points.at(-1);
    if (isBeyondKnee(lowest?.p50_us ?? null, last?.p50_us ?? null)) break;
  }
  return points;
}

function isBeyondKnee(lowest: number | null, last: number | null): boolean {
  return last === null || (lowest !== null && last > KNEE * lowest);
}

/** Finds the highest load that the ends kept up with: its median is below the knee, and throughput matches the offered rate. */
export function findKnee(points: readonly LoadPoint[]): LoadPoint | undefined {
  const lowest = points[0]?.p50_us ?? null;
  return points.findLast(
    ({ p50_us: us, offered_per_s, achieved_per_s }) =>
      us !== null && !isBeyondKnee(lowest, us) && achieved_per_s > 0.95 * offered_per_s,
  );
}
