import type { TlsIdentity } from '@gaia-mesh/stacks/contract/stack.ts';
import { MIN_INVOCATIONS } from '../../statistics/nested-samples.ts';
import { count } from '../../terminal/table.ts';
import type { ArmsPlan, Design, InvocationPlan, Session } from '../experiment.ts';
import { type Arm, toStackSettings } from './arms.ts';
import { type Invocation, openPairSession } from './invocation.ts';
import type { PairOptions } from './peers/pair.ts';
import type { PlannedExchange } from './peers/protocol.ts';

/** Invocations that a verdict needs; further ones improve it more than longer ones. */
const WANTED_INVOCATIONS = MIN_INVOCATIONS;
/** Bounds of the milliseconds that an invocation is measured for: shorter loads would not be loads. */
const MEASURED_MS = { least: 400, most: 3000 };
/** Estimate of the milliseconds to start, set up and stop two processes, until they have been measured. */
const GUESSED_OVERHEAD_MS = 2000;
/** Minimum of that estimate. */
const MIN_OVERHEAD_MS = 100;
/** Invocations in which bytes are counted: two show whether they are reproducible. */
const COUNTED_INVOCATIONS = 2;
/** Time that the first invocation of an arm has even if the budget is shorter: two processes start, and play one round. */
const FIRST_MS = 4000;
/** Maximum bytes of the exchanges that a load has under way at the same time: both ends hold each of them several times. */
const MAX_IN_FLIGHT_BYTES = 32 * 1024 * 1024;

interface StackArmsOptions {
  /** The first is the baseline. */
  readonly arms: readonly [Arm, ...Arm[]];
  /** Returns the exchanges that an arm plays. */
  readonly exchangesOf: (arm: Arm) => readonly PlannedExchange[];
  readonly identity: TlsIdentity | null;
  readonly concurrency: readonly number[];
  readonly ratePerS: number;
  readonly design: Design;
}

/** Stacks as arms of an experiment: each has a client and a server in processes of their own, one arm at a time. */
export class StackArms {
  /** Measured concurrencies: the requested ones, unless the exchanges are too large for some of them. */
  readonly concurrency: readonly number[];
  /** Requested measurements that are left out, one sentence each. */
  readonly warnings: readonly string[];
  readonly #options: StackArmsOptions;
  readonly #maxInFlight: number;
  #measuredMs = MEASURED_MS.least;
  #overheadMs = GUESSED_OVERHEAD_MS;
  #last: { readonly beganMs: number; readonly slots: number } | undefined;

  constructor(options: StackArmsOptions) {
    this.#options = options;
    const { maxInFlight, concurrency, warnings } = limitConcurrency(options);
    this.#maxInFlight = maxInFlight;
    this.concurrency = concurrency;
    this.warnings = warnings;
  }

  /** Returns the arms and how they are played. */
  plan(): ArmsPlan<Invocation> {
    const { arms, design } = this.#options;
    const [baseline, ...others] = arms;
    return {
      arms: [this.#toArm(baseline), ...others.map((arm) => this.#toArm(arm))],
      design,
      together: 1,
      firstMs: FIRST_MS,
      planBlock: async (block, leftMs, slots) => this.#planBlock(block, leftMs, slots),
    };
  }

  #toArm(arm: Arm): ArmsPlan<Invocation>['arms'][number] {
    return { name: arm.name, open: (plan) => this.#open(arm, plan) };
  }

  #open(arm: Arm, plan: InvocationPlan): Promise<Session<Invocation>> {
    const { ratePerS, design } = this.#options;
    const { block, isNull } = plan;
    const protocol = {
      budgetMs: this.#measuredMs,
      rounds: design.rounds,
      concurrency: this.concurrency,
      ratePerS,
      countsBytes: block < COUNTED_INVOCATIONS && !isNull,
      raisesLoad: block === 1 && !isNull,
      maxInFlight: this.#maxInFlight,
    };
    return openPairSession(buildPairOptions(arm, this.#options), protocol, plan);
  }

  /** Chooses the time that each invocation is measured for, so that what a verdict needs fills the budget. */
  #planBlock(block: number, leftMs: number, slots: number): number {
    const { design } = this.#options;
    const beganMs = performance.now();
    if (this.#last !== undefined) {
      const tookMs = (beganMs - this.#last.beganMs) / this.#last.slots;
      this.#overheadMs = Math.max(MIN_OVERHEAD_MS, tookMs - this.#measuredMs);
    }
    this.#last = { beganMs, slots };
    const blocksLeft = Math.max(1, Math.min(WANTED_INVOCATIONS, design.invocations) - block);
    this.#measuredMs = clampMeasuredMs(leftMs / (blocksLeft * slots) - this.#overheadMs);
    // A millisecond less, since rounding must not cost the block that fills the time exactly.
    return slots * (this.#measuredMs + this.#overheadMs) - 1;
  }
}

/** Returns the number of exchanges that may be under way at the same time, and the concurrencies within it. */
function limitConcurrency({ arms, exchangesOf, concurrency }: StackArmsOptions) {
  const exchanges = [...new Set(arms.map(exchangesOf))].flat();
  const largest = Math.max(...exchanges.map((exchange) => JSON.stringify(exchange).length));
  const maxInFlight = Math.max(1, Math.floor(MAX_IN_FLIGHT_BYTES / largest));
  const within = concurrency.filter((level) => level <= maxInFlight);
  const beyond = concurrency.filter((level) => level > maxInFlight);
  const warnings = beyond.map(
    (level) =>
      `concurrency ${level} was left out: exchanges of up to ${count(largest)} bytes are too large for it`,
  );
  return { maxInFlight, concurrency: within.length > 0 ? within : [1], warnings };
}

function clampMeasuredMs(ms: number): number {
  return Math.min(MEASURED_MS.most, Math.max(MEASURED_MS.least, ms));
}

function buildPairOptions(arm: Arm, { identity, exchangesOf }: StackArmsOptions): PairOptions {
  const { stack, settings } = arm;
  return {
    stack,
    settings: toStackSettings(settings, identity),
    exchanges: exchangesOf(arm),
    workMs: settings.workMs,
    network: settings.network,
  };
}
