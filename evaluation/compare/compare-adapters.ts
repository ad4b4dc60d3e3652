import type { Interval } from '../statistics/inference/bootstrap.ts';
import { computeMedian, computePercentile } from '../statistics/inference/quantile.ts';
import { type JudgedComparison, judgeComparisons } from '../statistics/level-verdicts.ts';
import { compareNestedSamples } from '../statistics/levels.ts';
import { AdapterArms, type PlayedInvocation } from './adapter-arms.ts';
import { Experiment, type ExperimentOptions } from './experiment.ts';

type CompareOptions = ConstructorParameters<typeof AdapterArms>[0] &
  Pick<ExperimentOptions<PlayedInvocation>, 'random' | 'onProgress' | 'onBlock' | 'onNote'> & {
    /** Ratios within 1 / (1 + margin) to 1 + margin count as equal. */
    readonly margin: number;
  };

/** Returns a figure of each sample for one pass of the recording; undefined if this machine does not count it. */
type Figure = (invocation: PlayedInvocation) => readonly (number | undefined)[];

const timeUs: Figure = ({ rounds }) => rounds.map(({ elapsedMs, passes }) => (elapsedMs * 1000) / passes);
const cpuUs: Figure = ({ rounds }) =>
  rounds.map(({ cpuUs: us, passes }) => (us === undefined ? undefined : us / passes));
const firstUs: Figure = ({ first }) => [first.elapsedMs * 1000];

type ByteVerdict = 'smaller' | 'larger' | 'equal';

interface JudgedBytes extends Interval {
  ratio: number;
  verdict: ByteVerdict;
}

/**
 * Compares exact byte sums of the same packets. A deterministic adapter writes them the same way every time, so there is nothing to
 * estimate: one more byte is larger, and the interval is the ratio itself.
 */
export function judgeBytes(baseline: number, other: number): JudgedBytes {
  for (const bytes of [baseline, other]) {
    if (!(Number.isSafeInteger(bytes) && bytes > 0)) {
      throw new RangeError(`expected an exact, positive number of bytes, got ${bytes}`);
    }
  }
  const ratio = other / baseline;
  const verdict = other < baseline ? 'smaller' : other > baseline ? 'larger' : 'equal';
  return { ratio, low: ratio, high: ratio, verdict };
}

/**
 * Plays one recording through every adapter and compares each adapter with the first. Bytes are exact; times are microseconds of one pass
 * of the recording, all its tasks, without tool time: in steady state, and for the first pass of fresh processes.
 */
export async function compareAdapters(options: CompareOptions) {
  const { margin } = options;
  const arms = new AdapterArms(options);
  const played = await new Experiment({ ...options, ...arms.plan() }).run();
  const { nullArm, machine, lost, stopped, elapsedMs, warnings, failed } = played;
  const adapters = options.adapters.filter(({ name }) => played.invocations.has(name));
  const [baseline] = options.adapters;
  const reference = played.invocations.get(baseline.name) ?? [];
  const others = adapters.slice(1).map(({ name }) => played.invocations.get(name) ?? []);
  const compareNull = (figure: Figure, fewestRounds?: number) => {
    const [base, again] = [collectValues(reference, figure), collectValues(nullArm, figure)];
    return base === null || again === null ? undefined : compareNestedSamples(base, again, fewestRounds);
  };
  const judged = (figure: Figure, fewestRounds?: number) => {
    const base = collectValues(reference, figure);
    const pairs = others.map((other) => collectValues(other, figure));
    if (base === null || pairs.includes(null)) return null;
    const compared = pairs.flatMap((pair) =>
      pair === null ? [] : [compareNestedSamples(base, pair, fewestRounds)],
    );
    return judgeComparisons(compared, { margin, nullArm: compareNull(figure, fewestRounds) });
  };
  const verdicts = { time: judged(timeUs), cpu: judged(cpuUs), first: judged(firstUs, 1) };
  const wire = readWireBytes(reference);
  const nulls = { time: compareNull(timeUs), cpu: compareNull(cpuUs), first: compareNull(firstUs, 1) };
  const [nullTest] = judgeComparisons(nulls.time === undefined ? [] : [nulls.time], { margin });
  return {
    baseline: baseline.name,
    margin,
    null_test: {
      ...nullTest,
      samples_us: roundValues(collectValues(nullArm, timeUs)) ?? [],
      cpu: nulls.cpu ?? null,
      first: nulls.first ?? null,
    },
    adapters: adapters.map(({ name }, index) => {
      const own = played.invocations.get(name) ?? [];
      const at = (all: readonly JudgedComparison[] | null) => all?.[index - 1] ?? null;
      const [time, cpu, first] = [at(verdicts.time), at(verdicts.cpu), at(verdicts.first)];
      const bytes: JudgedBytes = judgeBytes(wire, readWireBytes(own));
      return {
        ...summarizeAdapter(name, own),
        vs_baseline: time === null ? null : { bytes, time, cpu, first },
      };
    }),
    invocations: reference.length,
    rounds: Math.min(...reference.map(({ rounds }) => rounds.length)),
    passes: arms.passes,
    elapsed_ms: elapsedMs,
    lost_invocations: lost,
    failed,
    stopped,
    machine: machine.map(({ invocation, round, load, stealMs, throttledMs, availableBytes }) => ({
      invocation,
      round,
      load,
      steal_ms: stealMs,
      throttled_ms: throttledMs,
      available_bytes: availableBytes,
    })),
    warnings,
  };
}

/** Returns the values of each invocation; null if a value is unknown. */
function collectValues(invocations: readonly PlayedInvocation[], figure: Figure): number[][] | null {
  const values = invocations.map((invocation) => figure(invocation).filter((value) => value !== undefined));
  return values.every((own, index) => own.length === countFigureValues(invocations[index], figure))
    ? values
    : null;
}

function countFigureValues(invocation: PlayedInvocation | undefined, figure: Figure): number {
  return invocation === undefined ? 0 : figure(invocation).length;
}

function readWireBytes([invocation]: readonly PlayedInvocation[]): number {
  return invocation?.first.ledger.total.wire ?? 0;
}

function summarizeAdapter(adapter: string, invocations: readonly PlayedInvocation[]) {
  const [invocation] = invocations;
  if (invocation === undefined) throw new Error(`no round of ${adapter} was played`);
  const { ledger, parts, sizes } = invocation.first;
  const rounds = invocations.flatMap((own) => own.rounds);
  const times = invocations.flatMap(timeUs).filter((us) => us !== undefined);
  const cpu = collectValues(invocations, cpuUs);
  const firsts = invocations.map(({ first }) => first);
  return {
    adapter,
    by_part: parts.map(({ elapsedMs: _ms, ...bytes }) => bytes),
    by_size: sizes,
    ledger: { types: ledger.types, total: ledger.total },
    bytes_on_wire: ledger.written.packets + ledger.read.packets,
    session_bytes: computeMedian(firsts.map((first) => first.sessionBytes)),
    encode_us: computeMedian(rounds.map(({ encodeUs, passes }) => encodeUs / passes)),
    decode_us: computeMedian(rounds.map(({ decodeUs, passes }) => decodeUs / passes)),
    cpu_us: cpu === null ? null : computeMedian(cpu.flat()),
    latency_us: {
      median: computeMedian(times),
      p95: computePercentile(times, 0.95),
      p99: computePercentile(times, 0.99),
    },
    first_us: computeMedian(firsts.map(({ elapsedMs }) => elapsedMs * 1000)),
    first_code_us: computeMedian(firsts.map(({ encodeUs, decodeUs }) => encodeUs + decodeUs)),
    samples_us: roundValues(collectValues(invocations, timeUs)) ?? [],
    samples_cpu_us: roundValues(cpu),
    samples_first_us: (roundValues(collectValues(invocations, firstUs)) ?? []).flat(),
  };
}

/** Rounds to a tenth of a microsecond, below which clocks have no meaning. */
function roundValues(values: readonly (readonly number[])[] | null): number[][] | null {
  return values === null ? null : values.map((own) => own.map((us) => Math.round(us * 10) / 10));
}
