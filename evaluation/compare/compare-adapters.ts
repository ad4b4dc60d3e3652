import type { ProtocolAdapter } from '../../core/contracts/adapter.ts';
import { MeshError } from '../../core/contracts/errors.ts';
import type { ReplayMesh, Round } from '../../core/recording/replay-mesh.ts';
import type { Random } from '../../core/system/random.ts';
import { median, percentile } from '../statistics/inference/quantile.ts';
import { compare } from '../statistics/paired.ts';
import { roundOf } from '../statistics/schedule.ts';
import { type Progress, type StoppingRule, type StopReason, stopReason } from '../statistics/stopping.ts';
import { judgeBytes, judgeTimes } from '../statistics/verdict.ts';

/** Rounds of each arm that are played first and not counted: code compiles, connections have been made once. */
const WARM_UP_ROUNDS = 2;
/** Rounds that may be lost one after the other. */
const MAX_LOST_IN_A_ROW = 3;

interface CompareOptions {
  readonly mesh: Pick<ReplayMesh, 'play'>;
  /** The first is the baseline. */
  readonly adapters: readonly [ProtocolAdapter, ...ProtocolAdapter[]];
  readonly rule: StoppingRule;
  readonly random: Random;
  readonly bootstrapSeed: number;
  readonly onRound: (progress: Progress) => void;
  /** A round was lost, and why. */
  readonly onLost: (why: string) => void;
  /** Ends the rounds: those that were played whole count. */
  readonly signal: AbortSignal;
}

/**
 * Plays one recording through every adapter, again and again in random order, the baseline twice a round, until the intervals are
 * narrow or the budget ends. Bytes are exact; times are microseconds, medians over the rounds.
 */
export async function compareAdapters(options: CompareOptions) {
  const { mesh, adapters, rule, random, onRound } = options;
  const [baseline] = adapters;
  const byName = new Map(adapters.map((adapter) => [adapter.name, adapter]));
  const played = new Map<string, Round[]>(adapters.map((adapter) => [adapter.name, []]));
  const nullRounds: Round[] = [];
  let lostInARow = 0;
  let lostRounds = 0;
  for (let round = 0; round < WARM_UP_ROUNDS; round++) {
    await unlessLost(async () => {
      for (const adapter of adapters) await mesh.play(adapter);
    });
  }
  const startMs = performance.now();
  let rounds = 0;
  let stopped: StopReason | null = null;
  while (stopped === null) {
    const round = await unlessLost(playRound).catch((error: unknown) => {
      // Ctrl-C: an hour of rounds is worth a report.
      if (options.signal.aborted && rounds > 0) return undefined;
      throw error;
    });
    if (round === 'lost') continue;
    if (round === undefined) {
      stopped = 'interrupted';
      break;
    }
    for (const { arm, isNull, result } of round) (isNull ? nullRounds : played.get(arm))?.push(result);
    rounds += 1;
    const progress = { rounds, elapsedMs: performance.now() - startMs, intervals: comparisonsOf().all };
    onRound(progress);
    stopped = stopReason(progress, rule);
  }

  /** A connection that did not come about, as on a busy machine, costs its round; several one after the other mean more. */
  async function unlessLost<T>(play: () => Promise<T>): Promise<T | 'lost'> {
    try {
      const played = await play();
      lostInARow = 0;
      return played;
    } catch (error) {
      const isConnection = error instanceof MeshError && error.code === 'agent';
      lostInARow += 1;
      if (!isConnection || lostInARow > MAX_LOST_IN_A_ROW || options.signal.aborted) throw error;
      lostRounds += 1;
      options.onLost(error.message);
      return 'lost';
    }
  }

  async function playRound() {
    const results = [];
    for (const { arm, isNull } of roundOf([...byName.keys()], baseline.name, random))
      results.push({ arm, isNull, result: await mesh.play(byName.get(arm) ?? baseline) });
    return results;
  }

  function comparisonsOf() {
    const times = (of: readonly Round[] | undefined) => (of ?? []).map((round) => round.elapsedMs);
    const reference = times(played.get(baseline.name));
    const seeded = { seed: options.bootstrapSeed };
    const nullTest = compare(reference, times(nullRounds), seeded);
    const others = adapters
      .slice(1)
      .map((adapter) => compare(reference, times(played.get(adapter.name)), seeded));
    return { nullTest, others, all: [nullTest, ...others] };
  }

  const { nullTest, others } = comparisonsOf();
  const judged = judgeTimes(others, nullTest);
  const baselineWire = wireOf(played.get(baseline.name));
  return {
    baseline: baseline.name,
    null_test: nullTest,
    adapters: adapters.map((adapter, index) => {
      const own = played.get(adapter.name) ?? [];
      const time = judged[index - 1];
      const bytes = judgeBytes(baselineWire, wireOf(own));
      return { ...figuresOf(adapter.name, own), vs_baseline: time === undefined ? null : { bytes, time } };
    }),
    rounds,
    lost_rounds: lostRounds,
    stopped,
  };
}

function wireOf(rounds: readonly Round[] | undefined): number {
  return rounds?.[0]?.ledger.total.wire ?? 0;
}

function figuresOf(adapter: string, rounds: readonly Round[]) {
  const [first] = rounds;
  if (first === undefined) throw new Error(`no round of ${adapter} was played`);
  const elapsedUs = rounds.map((round) => round.elapsedMs * 1000);
  return {
    adapter,
    ledger: { types: first.ledger.types, total: first.ledger.total },
    bytes_on_wire: first.ledger.written.packets + first.ledger.read.packets,
    session_bytes: median(rounds.map((round) => round.sessionBytes)),
    encode_us: median(rounds.map((round) => round.encodeUs)),
    decode_us: median(rounds.map((round) => round.decodeUs)),
    latency_us: {
      median: median(elapsedUs),
      p95: percentile(elapsedUs, 0.95),
      p99: percentile(elapsedUs, 0.99),
    },
    samples_us: elapsedUs.map((us) => Math.round(us * 10) / 10),
    rounds: rounds.length,
  };
}
