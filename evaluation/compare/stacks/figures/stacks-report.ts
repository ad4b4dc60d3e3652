import type { Recording } from '@gaia-mesh/core/recording/recording.ts';
import type { DirectionBytes, WireBytes } from '@gaia-mesh/stacks/contract/wire-sum.ts';
import { computeMedian, computePercentile } from '../../../statistics/inference/quantile.ts';
import {
  parseComparison,
  type Samples,
  type StackArm,
  type StacksComparison,
} from '../../comparison-file.ts';
import { formatVerdicts } from '../../comparison-text.ts';
import type { MeasuredArms } from '../../experiment.ts';
import { judgeArms, roundSamples } from '../../judged-arms.ts';
import { describeRecording } from '../../recording.ts';
import type { Arm } from '../arms.ts';
import { findKnee, type Invocation, medianLatency, type Round } from '../invocation.ts';
import type { PlannedExchange } from '../peers/protocol.ts';

interface ReportInput {
  readonly arms: readonly [Arm, ...Arm[]];
  readonly measured: MeasuredArms<Invocation>;
  readonly concurrency: readonly number[];
  readonly recording: Recording;
  /** The exchanges of the recording. */
  readonly traffic: readonly PlannedExchange[];
  readonly exchangesOf: (arm: Arm) => readonly PlannedExchange[];
  readonly ratePerS: number;
  readonly seed: number;
  /** The command line that repeats the measurement. */
  readonly command: string;
  readonly leftOut: readonly string[];
  /** Ratios within 1 / (1 + margin) to 1 + margin count as equal. */
  readonly margin: number;
}

/** Builds the report and parses it as it is when read back from its file, so that all outputs agree. */
export function reportStacks(reported: ReportInput): StacksComparison {
  const { arms, measured, recording, traffic, exchangesOf, margin, concurrency } = reported;
  const figures = arms.flatMap((arm) => {
    const invocations = measured.invocations.get(arm.name) ?? [];
    return invocations.length === 0
      ? []
      : [computeArmFigures(arm, exchangesOf(arm), invocations, concurrency)];
  });
  const [baseline, ...others] = figures;
  if (baseline === undefined) throw new Error('the baseline was not measured');
  const judged = judgeArms(measured, [baseline, ...others], collectSamples(measured.nullArm), margin);
  const report = {
    kind: 'stacks',
    sentence: null,
    command: reported.command,
    ...describeRecording(recording),
    seed: reported.seed,
    ...judged,
    ...describeTraffic(recording, traffic),
    left_out: reported.leftOut,
    rate_per_s: reported.ratePerS,
  };
  const file = parseComparison(JSON.stringify(report), 'comparison', 'stacks');
  return { ...file, sentence: formatVerdicts(file) };
}

function describeTraffic({ header: { run_id, team } }: Recording, exchanges: readonly PlannedExchange[]) {
  const packets = exchanges.flatMap(({ request, replies }) => [request, ...replies]);
  const sizes = packets.map(({ payload }) => Buffer.byteLength(JSON.stringify(payload)));
  return {
    packets: packets.length,
    traffic: {
      source: `recording ${run_id} of team ${team}`,
      exchanges: exchanges.length,
      payload_bytes: {
        smallest: Math.min(...sizes),
        median: Math.round(computeMedian(sizes)),
        largest: Math.max(...sizes),
      },
    },
  };
}

/** Maximum times of an arm that are kept for its distribution. */
const KEPT_TIMES = 2000;

/** Figures of one arm by itself; the comparison with the baseline follows when all arms are known. */
type ArmFigures = Omit<StackArm, 'vs_baseline'>;

/** @param invocations invocations of the arm, at least one */
function computeArmFigures(
  arm: Arm,
  exchanges: readonly PlannedExchange[],
  invocations: readonly Invocation[],
  concurrency: readonly number[],
): ArmFigures {
  const { name, stack, implementation, protocol, transport, settings, levels } = arm;
  const bytes = summarizeBytes(exchanges, invocations);
  const setup = summarizeSetup(invocations);
  const wireBytes = bytes.sent.raw + bytes.received.raw;
  const payloadBytes = bytes.sent.payload + bytes.received.payload;
  const rounds = invocations.flatMap((invocation) => invocation.rounds);
  const curve = invocations.findLast((invocation) => invocation.curve !== null)?.curve ?? null;
  return {
    name,
    invocations: invocations.length,
    wire_bytes: wireBytes,
    payload_bytes: payloadBytes,
    header_bytes: wireBytes - payloadBytes,
    session_bytes: setup.sent_bytes + setup.received_bytes,
    cpu_us: computeMedian(rounds.map(sumCpu)),
    first_us: setup.ms * 1000,
    latency_us: summarizeLatencies(rounds),
    samples_us: collectSamples(invocations),
    stack: stack.name,
    implementation,
    client: stack.implementation,
    server: stack.server ?? stack.implementation,
    protocol,
    transport,
    settings,
    levels,
    bytes,
    setup,
    cpu: { client: computeMedianCpu(rounds, 'client'), server: computeMedianCpu(rounds, 'server') },
    load: summarizeLoad(rounds),
    saturation: concurrency.map((level, index) => {
      const samples = invocations.map((invocation) => invocation.rounds.map(({ perS }) => perS[index] ?? 0));
      return { concurrency: level, per_s: computeMedian(samples.flat()), samples };
    }),
    curve: curve === null ? null : [...curve],
    knee_per_s: curve === null ? null : (findKnee(curve)?.offered_per_s ?? null),
    rss_bytes: {
      client: computeMedian(invocations.map(({ rssBytes }) => rssBytes.client)),
      server: computeMedian(invocations.map(({ rssBytes }) => rssBytes.server)),
    },
  };
}

/** Collects the samples that verdicts are based on, one list for each invocation. If the rate was too high, there is no time. */
function collectSamples(invocations: readonly Invocation[]): Samples {
  const latency = invocations.map(({ rounds }) => rounds.map(medianLatency));
  const isComplete = latency.every((own) => own.every((value) => value !== null));
  return {
    time: isComplete ? roundSamples(latency.map((own) => own.filter((value) => value !== null))) : [],
    cpu: roundSamples(invocations.map(({ rounds }) => rounds.map(sumCpu))),
    first: roundSamples(invocations.map(({ setup }) => [setup.ms * 1000])),
    saturated: roundSamples(
      invocations.map(({ rounds }) => rounds.map(({ perS }) => 1e6 / (perS.at(-1) ?? 0))),
    ),
  };
}

function summarizeBytes(
  exchanges: readonly PlannedExchange[],
  invocations: readonly Invocation[],
): StackArm['bytes'] {
  const counted = invocations.map(({ bytes }) => bytes).filter((bytes) => bytes !== null);
  const [first] = counted;
  if (first === undefined) throw new Error('the bytes of an arm are counted in its first invocation');
  const [answered, oneWay] = [
    exchanges.filter(({ replies }) => replies.length > 0),
    exchanges.filter(({ replies }) => replies.length === 0),
  ];
  return {
    ...splitTraffic(answered, first.answered),
    one_way: oneWay.length === 0 ? null : splitTraffic(oneWay, first.oneWay),
    is_repeatable: counted.every((bytes) => passText(bytes) === passText(first)),
  };
}

/** Formats the bytes of a pass for comparison. It excludes the set-up, because a TLS handshake has signatures of varying lengths. */
function passText({ answered, oneWay }: NonNullable<Invocation['bytes']>): string {
  return JSON.stringify([answered, oneWay]);
}

function splitTraffic(exchanges: readonly PlannedExchange[], { sent, received }: WireBytes) {
  const up = exchanges.map(({ request }) => countPayloadBytes(request.payload));
  const down = exchanges.flatMap(({ replies }) => replies.map(({ payload }) => countPayloadBytes(payload)));
  const sum = (bytes: readonly number[]) => bytes.reduce((total, own) => total + own, 0);
  return {
    exchanges: exchanges.length,
    sent: toByteLines(sent, sum(up)),
    received: toByteLines(received, sum(down)),
    per_exchange: (sent.raw + received.raw) / exchanges.length,
  };
}

function toByteLines({ raw, tls, head, body, messages }: DirectionBytes, payload: number) {
  return { raw, tls, head, envelope: body - payload, payload, messages };
}

/** Counts the bytes of a payload as compact JSON. */
function countPayloadBytes(payload: object): number {
  return Buffer.byteLength(JSON.stringify(payload));
}

function summarizeSetup(invocations: readonly Invocation[]): ArmFigures['setup'] {
  const [first] = invocations;
  if (first === undefined) throw new Error('there was no invocation');
  const { wire } = first.setup;
  const firstUse = first.bytes?.firstUse ?? { sent: 0, received: 0 };
  return {
    sent_bytes: wire.sent.raw + firstUse.sent,
    received_bytes: wire.received.raw + firstUse.received,
    connections: wire.connections,
    messages: wire.sent.messages + wire.received.messages,
    ms: computeMedian(invocations.map(({ setup }) => setup.ms)),
    round_trips: first.roundTrips?.setup ?? null,
    round_trips_per_exchange: first.roundTrips?.exchange ?? null,
    first_answer_ms: first.roundTrips?.firstAnswerMs ?? null,
  };
}

function summarizeLatencies(rounds: readonly Round[]): StackArm['latency_us'] {
  const all = rounds.flatMap(({ latencyUs }) => latencyUs ?? []);
  if (all.length === 0 || rounds.some(({ latencyUs }) => latencyUs === null)) return null;
  return {
    n: all.length,
    p50: computeMedian(all),
    p95: computePercentile(all, 0.95),
    p99: computePercentile(all, 0.99),
    p999: computePercentile(all, 0.999),
  };
}

function summarizeLoad(rounds: readonly Round[]): StackArm['load'] {
  const isKeptUp = rounds.every(({ latencyUs }) => latencyUs !== null);
  const all = isKeptUp ? rounds.flatMap(({ latencyUs }) => latencyUs ?? []) : [];
  const step = Math.max(1, all.length / KEPT_TIMES);
  const kept = Array.from(
    { length: Math.min(all.length, KEPT_TIMES) },
    (_, index) => all[Math.floor(index * step)] ?? 0,
  );
  return {
    late_us: Math.max(...rounds.map(({ lateUs }) => lateUs)),
    samples_us: roundSamples([kept]).flat(),
  };
}

function sumCpu({ cpuUs: { client, server } }: Round): number {
  return client.user + client.system + server.user + server.system;
}

function computeMedianCpu(rounds: readonly Round[], side: 'client' | 'server') {
  return {
    user: computeMedian(rounds.map(({ cpuUs }) => cpuUs[side].user)),
    system: computeMedian(rounds.map(({ cpuUs }) => cpuUs[side].system)),
  };
}
