import { rmSync } from 'node:fs';
import path from 'node:path';
import type { ProtocolAdapter } from '@gaia-mesh/core/contracts/adapter.ts';
import type { Recording } from '@gaia-mesh/core/recording/recording.ts';
import { ReplayMesh, type Round } from '@gaia-mesh/core/recording/replay/replay-mesh.ts';
import type { Network } from '@gaia-mesh/core/transports/network/network.ts';
import { computeMedian, computePercentile } from '../../statistics/inference/quantile.ts';
import { MIN_INVOCATIONS } from '../../statistics/nested-samples.ts';
import { listUserFiles, listUserReads } from '../../teams/user-files.ts';
import { type AdaptersComparison, parseComparison, type Samples } from '../comparison-file.ts';
import { formatVerdicts } from '../comparison-text.ts';
import { type ArmsPlan, type Design, Experiment, type ExperimentContext } from '../experiment.ts';
import { judgeArms, roundSamples } from '../judged-arms.ts';
import { describeRecording } from '../recording.ts';

/** Processes that carry packets; fresh ones for every invocation of every arm. */
type PlayedMesh = Pick<ReplayMesh, 'play' | 'stop'>;

/** A comparison of adapters on a recording. */
interface AdaptersPlan {
  /** The first is the baseline. */
  readonly arms: readonly [ProtocolAdapter, ...ProtocolAdapter[]];
  readonly design: Design;
  /** Ratios within 1 / (1 + margin) to 1 + margin count as equal. */
  readonly margin: number;
  /** Maximum number of agents in the recording; each is a process. */
  readonly maxAgents: number;
  readonly seed: number;
  /** The network between the hub and each agent; null for the loopback alone. */
  readonly network: Network | null;
  /** Folder for the agents' workspaces. */
  readonly workspaces: string;
}

/** One invocation of one adapter. */
interface PlayedInvocation {
  /** The first pass of the recording in fresh processes, with cold code and key generation. */
  readonly first: Round;
  readonly rounds: readonly Round[];
}

const TASK_TIMEOUT_MS = 60_000;

/**
 * Plays one recording through every arm, in fresh processes for each invocation, and compares each with the first. Bytes are exact; times
 * are microseconds of one pass of the recording, all its tasks, without tool time: in steady state, and for the first pass of fresh
 * processes.
 *
 * @param startMesh starts the processes of an invocation
 */
export async function compareAdapters(
  recording: Recording,
  plan: AdaptersPlan,
  context: ExperimentContext<PlayedInvocation> & {
    /** The command line that repeats the measurement. */
    readonly command: string;
  },
  startMesh: (options: Parameters<typeof ReplayMesh.start>[0]) => Promise<PlayedMesh> = (options) =>
    ReplayMesh.start(options),
): Promise<AdaptersComparison> {
  const { seed, maxAgents, network, margin } = plan;
  const { packets } = recording;
  const between = network === null ? undefined : await startNetwork(network);
  let started = 0;
  const start = async (signal: AbortSignal): Promise<PlayedMesh> => {
    started += 1;
    const workspaces = path.join(plan.workspaces, String(started));
    const mesh = await startMesh({
      recording,
      workspaces,
      timeoutMs: TASK_TIMEOUT_MS,
      dialler: between?.dialler,
      signal,
      userAdapters: { files: listUserFiles(), reads: listUserReads(listUserFiles()) },
      environment: process.env,
      maxAgents,
    });
    return {
      play: (adapter, passes) => mesh.play(adapter, passes),
      stop: async () => {
        await mesh.stop();
        // The logs of many passes have no readers.
        rmSync(workspaces, { recursive: true, force: true });
      },
    };
  };
  const adapterArms = new AdapterArms(recording, plan, start, context.signal);
  const measured = await new Experiment(adapterArms.plan(), context).run().finally(() => between?.stop());
  const [baseline, ...others] = [...measured.invocations].map(([name, own]) => summarizeArm(name, own));
  if (baseline === undefined) throw new Error('the baseline was not measured');
  const run = describeRecording(recording);
  const toolUs = packets.reduce((sum, packet) => sum + (packet.tool_us ?? 0), 0);
  const report = {
    kind: 'adapters',
    sentence: null,
    command: context.command,
    ...run,
    packets: packets.length,
    task_ms: (toolUs + (baseline.latency_us?.p50 ?? 0)) / 1000 / run.tasks,
    seed,
    network,
    ...judgeArms(measured, [baseline, ...others], collectSamples(measured.nullArm), margin),
    passes: adapterArms.passes,
    left_out: [],
  };
  // The report is parsed as it is when read back from its file, so that all outputs agree.
  const file = parseComparison(JSON.stringify(report), 'comparison', 'adapters');
  return { ...file, sentence: formatVerdicts(file) };
}

async function startNetwork(network: Network) {
  const { NetworkProcess } = await import('@gaia-mesh/core/transports/network/network-process.ts');
  return new NetworkProcess(network);
}

function summarizeArm(
  name: string,
  invocations: readonly PlayedInvocation[],
): Omit<AdaptersComparison['arms'][number], 'vs_baseline'> {
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
    by_part: [...parts],
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

/** Returns the milliseconds and the bytes of one pass. */
export function sampleAdapter({ rounds, first }: PlayedInvocation) {
  const ms = computeMedian(rounds.map(({ elapsedMs, passes }) => elapsedMs / passes));
  return { ms, bytes: first.ledger.total.wire };
}

/**
 * Minimum duration of a sample of the baseline: a pause of a millisecond is then a thirtieth of it, and the clock's resolution is
 * negligible.
 */
const SAMPLE_MS = 30;
/** Minimum packets of a sample, however slow a busy machine is at the moment. */
const SAMPLE_PACKETS = 100;
/** Passes by which the time of one is estimated. */
const PROBE_PASSES = 4;
/** Minimum estimate of a pass, where the clock sees none. */
const MIN_PASS_MS = 0.01;
/** Maximum passes of a sample, reached by a recording of one tiny packet; beyond it, the ids that layers count would grow. */
const MAX_PASSES = 256;
/** Maximum processes alive at a time; each takes about 50 MB. Further arms are played after the earlier ones have ended. */
const MAX_ALIVE = 64;
/** Estimate of the time of an average adapter, as a multiple of the baseline's, until it has been measured. */
const GUESSED_RATIO = 2;

/** Adapters as arms of an experiment: each plays one recording, some passes of it in a sample. */
class AdapterArms {
  /** Passes of the recording in one sample; all arms use the same number, so that all have done the same work when they are sampled. */
  passes = 0;
  readonly #recording: Recording;
  readonly #plan: AdaptersPlan;
  readonly #start: (signal: AbortSignal) => Promise<PlayedMesh>;
  readonly #signal: AbortSignal;

  constructor(
    recording: Recording,
    plan: AdaptersPlan,
    start: (signal: AbortSignal) => Promise<PlayedMesh>,
    signal: AbortSignal,
  ) {
    this.#recording = recording;
    this.#plan = plan;
    this.#start = start;
    this.#signal = signal;
  }

  /** Returns the arms and how they are played. */
  plan(): ArmsPlan<PlayedInvocation> {
    const { arms, design } = this.#plan;
    const [baseline, ...others] = arms;
    return {
      arms: [this.#toArm(baseline), ...others.map((arm) => this.#toArm(arm))],
      design,
      together: Math.max(1, Math.floor(MAX_ALIVE / this.#recording.header.agents.length)),
      firstMs: Infinity,
      planBlock: async (block, leftMs) => {
        if (block === 0) this.passes = await this.#choosePasses(leftMs);
        return undefined;
      },
    };
  }

  #toArm(adapter: ProtocolAdapter): ArmsPlan<PlayedInvocation>['arms'][number] {
    const { name } = adapter;
    return {
      name,
      open: async ({ signal }) => {
        const mesh = await this.#start(signal);
        const rounds: Round[] = [];
        let first: Round | undefined;
        return {
          begin: async () => {
            first = await mesh.play(adapter, 1);
          },
          warmUp: async () => {
            await mesh.play(adapter, this.passes);
          },
          round: async () => {
            rounds.push(await mesh.play(adapter, this.passes));
          },
          result: () => {
            if (first === undefined) throw new Error(`${name} has not been played`);
            return { first, rounds };
          },
          stop: () => mesh.stop(),
        };
      },
    };
  }

  /** Chooses a number of passes for which the baseline lasts long enough, and with which the invocations for a verdict fit into the budget. */
  async #choosePasses(leftMs: number): Promise<number> {
    const { arms, design } = this.#plan;
    const { packets } = this.#recording;
    const [adapter] = arms;
    const endMs = performance.now() + leftMs;
    const mesh = await this.#start(this.#signal);
    const timed = async (passes: number) => {
      const beganMs = performance.now();
      const { elapsedMs } = await mesh.play(adapter, passes);
      return { elapsedMs, tookMs: Math.max(elapsedMs, performance.now() - beganMs) };
    };
    try {
      const samples = MIN_INVOCATIONS * (1 + design.rounds) * (1 + GUESSED_RATIO * arms.length);
      const sampleMs = (endMs - performance.now()) / samples;
      // The first pass of a process runs cold code; each sample begins with a handshake, whatever its passes.
      let onceMs = (await timed(1)).tookMs;
      let passMs = onceMs;
      if (onceMs * PROBE_PASSES <= sampleMs) {
        onceMs = (await timed(1)).tookMs;
        const { tookMs } = await timed(PROBE_PASSES);
        passMs = Math.max((tookMs - onceMs) / (PROBE_PASSES - 1), MIN_PASS_MS);
      }
      const affordable = Math.max(1, Math.floor(1 + (sampleMs - onceMs) / passMs));
      const most = Math.min(MAX_PASSES, affordable);
      const fewest = Math.min(Math.ceil(SAMPLE_PACKETS / packets.length), most);
      for (let passes = fewest; ; passes = Math.min(2 * passes, most)) {
        if (passes === most) return passes;
        await mesh.play(adapter, passes);
        const { elapsedMs } = await timed(passes);
        if (elapsedMs >= SAMPLE_MS) return passes;
      }
    } finally {
      await mesh.stop();
    }
  }
}
