import type { ProtocolAdapter } from '@gaia-mesh/core/contracts/adapter.ts';
import type { ReplayMesh, Round } from '@gaia-mesh/core/recording/replay/replay-mesh.ts';
import { computeMedian } from '../../statistics/inference/quantile.ts';
import { MIN_INVOCATIONS } from '../../statistics/levels.ts';
import type { ArmsPlan, Design } from '../experiment.ts';

/** Processes that carry packets; fresh ones for every invocation of every arm. */
type PlayedMesh = Pick<ReplayMesh, 'play' | 'stop'>;

/** An adapter with a number of agents that receive its packets. */
export interface PlannedArm {
  /** `json`, or `json agents=4` where numbers of agents are compared. */
  readonly name: string;
  readonly adapter: ProtocolAdapter;
  /** Agents, each a process; those beyond the recorded ones receive everything and send nothing. */
  readonly agents: number;
}

/** A comparison of adapters. */
export interface AdaptersPlan {
  /** The first is the baseline. */
  readonly arms: readonly [PlannedArm, ...PlannedArm[]];
  /** Packets of the recording. */
  readonly packets: number;
  readonly design: Design;
  /** Ratios within 1 / (1 + margin) to 1 + margin count as equal. */
  readonly margin: number;
}

/** Starts the processes of an invocation. */
export type StartMesh = (agents: number, signal: AbortSignal) => Promise<PlayedMesh>;

/** One invocation of one adapter. */
export interface PlayedInvocation {
  /** The first pass of the recording in fresh processes, with cold code and key generation. */
  readonly first: Round;
  readonly rounds: readonly Round[];
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
export class AdapterArms {
  /** Passes of the recording in one sample; all arms use the same number, so that all have done the same work when they are sampled. */
  passes = 0;
  readonly #plan: AdaptersPlan;
  readonly #start: StartMesh;
  readonly #signal: AbortSignal;

  constructor(plan: AdaptersPlan, start: StartMesh, signal: AbortSignal) {
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
      together: Math.max(1, Math.floor(MAX_ALIVE / Math.max(...arms.map(({ agents }) => agents)))),
      firstMs: Infinity,
      planBlock: async (block, leftMs) => {
        if (block === 0) this.passes = await this.#choosePasses(leftMs);
        return undefined;
      },
    };
  }

  #toArm({ name, adapter, agents }: PlannedArm): ArmsPlan<PlayedInvocation>['arms'][number] {
    return {
      name,
      open: async ({ signal }) => {
        const mesh = await this.#start(agents, signal);
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
    const { packets, arms, design } = this.#plan;
    const [{ adapter, agents }] = arms;
    const endMs = performance.now() + leftMs;
    const mesh = await this.#start(agents, this.#signal);
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
      const fewest = Math.min(Math.ceil(SAMPLE_PACKETS / packets), most);
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
