import { Random } from '@gaia-mesh/core/system/random.ts';
import type { WireBytes } from '@gaia-mesh/stacks/contract/wire-sum.ts';
import type { StacksComparison } from '../../comparison-file.ts';
import { sampleRecording } from '../../testing/sample-recording.ts';
import { combineArms } from '../arms.ts';
import { reportStacks } from '../figures/stacks-report.ts';
import type { Invocation } from '../invocation.ts';
import { buildEchoes } from '../workload.ts';
import { framedTcp } from './framed-tcp.ts';

const CONCURRENCY = [1, 4, 16, 64];

interface SampleArm {
  readonly name: string;
  /** Ratio to the first arm. */
  readonly factor: number;
  readonly isOverloaded?: boolean;
}

/**
 * Makes a synthetic comparison of stacks: the i-th arm takes `factor` times as long, give or take 2 %, and the baseline's second arm
 * `nullFactor` times.
 */
export function makeStacksFile(
  samples: readonly SampleArm[],
  invocations = 6,
  nullFactor = 1,
): StacksComparison {
  const chosen = samples.map(({ name }) => ({ stack: { ...framedTcp, name } }));
  const { arms } = combineArms(chosen);
  const [baseline, ...others] = arms;
  if (baseline === undefined) throw new Error('expected an arm');
  const random = new Random(7);
  const traffic = buildEchoes(512, 1);
  const of = ({ factor, isOverloaded = false }: SampleArm) =>
    Array.from({ length: invocations }, (_, index) => invocationOf(factor, index, isOverloaded, random));
  const named = new Map(samples.map((sample) => [`${sample.name} bare`, of(sample)]));
  return reportStacks({
    arms: [baseline, ...others],
    measured: {
      invocations: named,
      nullArm: of({ name: 'null', factor: nullFactor }),
      failed: ['x/http sdk: 3 packets were sent, and 2 arrived'],
      lost: 1,
      stopped: 'budget',
      elapsedMs: 40_000,
      machine: [{ invocation: 0, round: 0, load: 1, stealMs: 0, throttledMs: null, availableBytes: 2 ** 32 }],
      warnings: ['the machine was busy meanwhile'],
    },
    concurrency: CONCURRENCY,
    recording: sampleRecording,
    traffic,
    exchangesOf: () => traffic,
    ratePerS: 200,
    seed: 1,
    command: 'npm run compare -- --stacks mesh/json,a2a/jsonrpc',
    leftOut: ['mcp/http sdk: it needs @modelcontextprotocol/client'],
    margin: 0.05,
  });
}

/** Makes one invocation; bytes are counted in the first two. */
export function invocationOf(
  factor: number,
  index: number,
  isOverloaded: boolean,
  random: Random,
): Invocation {
  const noisy = (value: number) => value * factor * (0.99 + random.uniform() / 50);
  const wire = wireOf(20 * Math.round(1200 * factor));
  return {
    setup: { ms: noisy(20), wire: wireOf(Math.round(1000 * factor)) },
    bytes: index < 2 ? { answered: wire, oneWay: wireOf(0), firstUse: { sent: 0, received: 0 } } : null,
    roundTrips: null,
    rounds: Array.from({ length: 3 }, () => ({
      cpuUs: {
        client: { user: noisy(100), system: noisy(20) },
        server: { user: noisy(80), system: noisy(20) },
      },
      latencyUs: isOverloaded ? null : Array.from({ length: 80 }, () => noisy(300)),
      lateUs: 12,
      perS: CONCURRENCY.map((level) => (Math.min(level, 8) * 1000) / factor),
    })),
    curve:
      index === 1
        ? [
            { offered_per_s: 100, achieved_per_s: 100, n: 100, p50_us: 300, p99_us: 400 },
            { offered_per_s: 8000, achieved_per_s: 5000, n: 3000, p50_us: null, p99_us: null },
          ]
        : null,
    rssBytes: { client: 7e7, server: 8e7 },
  };
}

function wireOf(body: number): WireBytes {
  const direction = { raw: body + 80, tls: 0, head: 80, body, messages: 20 };
  return { connections: 1, sent: direction, received: direction };
}
