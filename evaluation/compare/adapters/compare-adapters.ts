import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import path from 'node:path';
import type { Recording } from '@gaia-mesh/core/recording/recording.ts';
import { ReplayMesh } from '@gaia-mesh/core/recording/replay/replay-mesh.ts';
import { codeFolder, listReadablePaths } from '@gaia-mesh/core/system/package-root.ts';
import { computeMedian, computePercentile } from '../../statistics/inference/quantile.ts';
import { listUserFiles, listUserReads } from '../../teams/user-files.ts';
import { type AdapterArm, type AdaptersComparison, parseAdapters, type Samples } from '../comparison-file.ts';
import { Experiment, type ExperimentContext } from '../experiment.ts';
import { describeExperiment, judgeArms, roundSamples } from '../judged-arms.ts';
import { describeRecording } from '../recording.ts';
import { formatVerdicts } from '../verdict-text.ts';
import { AdapterArms, type AdaptersPlan, type PlayedInvocation, type StartMesh } from './adapter-arms.ts';

/** A comparison of adapters on a recording. */
interface RecordedPlan extends Omit<AdaptersPlan, 'packets'> {
  /** Maximum number of agents in the recording. */
  readonly maxAgents: number;
  readonly seed: number;
  /** Folder for the agents' workspaces. */
  readonly workspaces: string;
}

const TASK_TIMEOUT_MS = 60_000;

/** Plays a recording through all arms, in fresh processes for each invocation. */
export async function measureAdapters(
  recording: Recording,
  plan: RecordedPlan,
  context: ExperimentContext<PlayedInvocation> & {
    /** The command line that repeats the measurement. */
    readonly command: string;
  },
): Promise<AdaptersComparison> {
  const { arms, seed, maxAgents } = plan;
  const { packets } = recording;
  let started = 0;
  const start: StartMesh = async (agents, signal) => {
    started += 1;
    const workspaces = path.join(plan.workspaces, String(started));
    const mesh = await ReplayMesh.start({
      recording,
      workspaces,
      timeoutMs: TASK_TIMEOUT_MS,
      signal,
      entry: path.join(codeFolder, 'scripts', 'gaia-mesh.js'),
      readable: listReadablePaths(),
      userAdapters: { files: listUserFiles(), reads: listUserReads(listUserFiles()) },
      environment: process.env,
      secret: randomBytes(32).toString('hex'),
      agents,
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
  const comparison = await compareAdapters({ ...plan, packets: packets.length }, start, context);
  const run = { ...describeRecording(recording), agents: arms[0].agents };
  const toolUs = packets.reduce((sum, packet) => sum + (packet.toolUs ?? 0), 0);
  const [baseline] = comparison.arms;
  const report = {
    kind: 'adapters',
    sentence: null,
    command: context.command,
    ...run,
    packets: packets.length,
    task_ms: (toolUs + (baseline?.latency_us?.p50 ?? 0)) / 1000 / run.tasks,
    seed,
    ...comparison,
    left_out: [],
  };
  // The report is parsed as it is when read back from its file, so that all outputs agree.
  const file = parseAdapters(JSON.stringify(report), 'comparison');
  return { ...file, sentence: formatVerdicts(file) };
}

/**
 * Plays one recording through every arm and compares each with the first. Bytes are exact; times are microseconds of one pass
 * of the recording, all its tasks, without tool time: in steady state, and for the first pass of fresh processes.
 */
export async function compareAdapters(
  plan: AdaptersPlan,
  start: StartMesh,
  context: ExperimentContext<PlayedInvocation>,
) {
  const adapterArms = new AdapterArms(plan, start, context.signal);
  const measured = await new Experiment(adapterArms.plan(), context).run();
  const [baseline, ...others] = [...measured.invocations].map(([name, own]) => summarizeArm(name, own));
  if (baseline === undefined) throw new Error('the baseline was not measured');
  return {
    ...describeExperiment(measured),
    ...judgeArms([baseline, ...others], collectSamples(measured.nullArm), plan.margin),
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
