import { computeMedian, computePercentile } from '../../statistics/inference/quantile.ts';
import type { AdapterArm, Samples } from '../comparison-file.ts';
import { Experiment, type ExperimentOptions } from '../experiment.ts';
import { describeExperiment, judgeArms, roundSamples } from '../judged-arms.ts';
import { AdapterArms, type PlayedInvocation } from './adapter-arms.ts';

export type CompareOptions = ConstructorParameters<typeof AdapterArms>[0] &
  Pick<ExperimentOptions<PlayedInvocation>, 'random' | 'onProgress' | 'onMeasured' | 'onBlock' | 'onNote'> & {
    /** Ratios within 1 / (1 + margin) to 1 + margin count as equal. */
    readonly margin: number;
  };

/**
 * Plays one recording through every arm and compares each with the first. Bytes are exact; times are microseconds of one pass
 * of the recording, all its tasks, without tool time: in steady state, and for the first pass of fresh processes.
 */
export async function compareAdapters(options: CompareOptions) {
  const adapterArms = new AdapterArms(options);
  const measured = await new Experiment({ ...options, ...adapterArms.plan() }).run();
  const [baseline, ...others] = [...measured.invocations].map(([name, own]) => summarizeArm(name, own));
  if (baseline === undefined) throw new Error('the baseline was not measured');
  return {
    ...describeExperiment(measured),
    ...judgeArms([baseline, ...others], collectSamples(measured.nullArm), options.margin),
    passes: adapterArms.passes,
  };
}

function summarizeArm(
  name: string,
  invocations: readonly PlayedInvocation[],
): Omit<AdapterArm, 'vs_baseline'> {
  const [invocation] = invocations;
  if (invocation === undefined) throw new Error(`no round of ${name} was played`);
  const { ledger, parts, sizes } = invocation.first;
  const rounds = invocations.flatMap((own) => own.rounds);
  const firsts = invocations.map(({ first }) => first);
  const samples = collectSamples(invocations);
  const times = samples.time.flat();
  return {
    name,
    invocations: invocations.length,
    wire_bytes: ledger.total.wire,
    payload_bytes: ledger.total.payload,
    header_bytes: ledger.total.header_size,
    session_bytes: computeMedian(firsts.map((first) => first.sessionBytes)),
    cpu_us: samples.cpu.length === 0 ? null : computeMedian(samples.cpu.flat()),
    first_us: computeMedian(samples.first.flat()),
    latency_us: {
      n: times.length,
      p50: computeMedian(times),
      p95: computePercentile(times, 0.95),
      p99: computePercentile(times, 0.99),
      p999: computePercentile(times, 0.999),
    },
    samples_us: samples,
    by_part: parts.map(({ elapsedMs: _ms, ...bytes }) => bytes),
    by_size: [...sizes],
    ledger: { types: ledger.types, total: ledger.total },
    bytes_on_wire: ledger.written.packets + ledger.read.packets,
    encode_us: computeMedian(rounds.map(({ encodeUs, passes }) => encodeUs / passes)),
    decode_us: computeMedian(rounds.map(({ decodeUs, passes }) => decodeUs / passes)),
    first_code_us: computeMedian(firsts.map(({ encodeUs, decodeUs }) => encodeUs + decodeUs)),
  };
}

/** Collects the samples that verdicts are based on, for one pass of the recording. Where the machine counts no CPU time, there are none. */
function collectSamples(invocations: readonly PlayedInvocation[]): Samples {
  const cpu = invocations.map(({ rounds }) =>
    rounds.flatMap(({ cpuUs, passes }) => (cpuUs === undefined ? [] : [cpuUs / passes])),
  );
  const isCounted = cpu.every((own, index) => own.length === invocations[index]?.rounds.length);
  return {
    time: roundSamples(
      invocations.map(({ rounds }) => rounds.map(({ elapsedMs, passes }) => (elapsedMs * 1000) / passes)),
    ),
    cpu: isCounted ? roundSamples(cpu) : [],
    first: roundSamples(invocations.map(({ first }) => [first.elapsedMs * 1000])),
    saturated: [],
  };
}
