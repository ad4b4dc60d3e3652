import os from 'node:os';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { type MachineState, watchMachine } from '@gaia-mesh/core/system/process/machine-state.ts';
import type { Random } from '@gaia-mesh/core/system/random.ts';
import type { TlsIdentity } from '@gaia-mesh/stacks/contract/stack.ts';
import { MIN_INVOCATIONS } from '../../statistics/levels.ts';
import { drawRound } from '../../statistics/schedule.ts';
import { count, formatDecimals } from '../../terminal/table.ts';
import { listBudgetWarnings, listMachineWarnings } from '../machine-warnings.ts';
import type { Arm } from './arms.ts';
import { toStackSettings } from './factors.ts';
import { type Invocation, measureInvocation, type Protocol } from './invocation.ts';
import type { PairOptions } from './peers/pair.ts';
import type { PlannedExchange } from './peers/protocol.ts';

/** Invocations that a verdict needs; further ones improve it more than longer ones. */
const WANTED_INVOCATIONS = MIN_INVOCATIONS;
/** Bounds of the milliseconds that an invocation is measured for: shorter loads would not be loads. */
const MEASURED_MS = { least: 400, most: 3000 };
/** Estimate of the milliseconds to start, set up and stop two processes, until they have been measured. */
const GUESSED_OVERHEAD_MS = 2000;
/** Invocations in which bytes are counted: two show whether they are reproducible. */
const COUNTED_INVOCATIONS = 2;
/** Maximum attempts of an invocation. A failed connection, as on a busy machine, is tried again in fresh processes. */
const MAX_TRIES = 3;
/** Time that the first invocation of an arm has even if the budget is shorter: two processes start, and play one round. */
const FIRST_MS = 4000;
/** Maximum bytes of the exchanges that a load has under way at the same time: both ends hold each of them several times. */
const MAX_IN_FLIGHT_BYTES = 32 * 1024 * 1024;

interface CompareStacksOptions {
  /** The first is the baseline. */
  readonly arms: readonly [Arm, ...Arm[]];
  /** Returns the exchanges that an arm plays. */
  readonly exchangesOf: (arm: Arm) => readonly PlannedExchange[];
  readonly identity: TlsIdentity | null;
  readonly concurrency: readonly number[];
  readonly ratePerS: number;
  readonly budgetMs: number;
  /** Maximum invocations of each arm; the budget may allow fewer. */
  readonly invocations: number;
  /** Rounds in each invocation. */
  readonly rounds: number;
  /** Milliseconds that each invocation is measured for; derived from the budget by default. */
  readonly measuredMs?: number;
  /** Also grows a task in the first invocation of each arm, and raises the load in the second; true by default. */
  readonly hasExtras?: boolean;
  readonly random: Random;
  /** Receives the used share of the budget, 0 to 1, and the current activity. */
  readonly onProgress: (share: number, what: string) => void;
  /** Receives the results after an invocation of all arms; it is called between invocations. */
  readonly onInvocation?: (measured: readonly MeasuredInvocation[]) => void;
  /** Receives each invocation as soon as it was measured, also those of an interrupted block. */
  readonly onMeasured?: (measured: MeasuredInvocation) => void;
  readonly onNote: (note: string) => void;
  readonly signal: AbortSignal;
}

export interface MeasuredInvocation {
  readonly arm: string;
  /** True for the second baseline. */
  readonly isNull: boolean;
  readonly result: Invocation;
}

export interface MeasuredStacks {
  /** Measured concurrencies: the requested ones, unless the exchanges are too large for some of them. */
  readonly concurrency: readonly number[];
  /** Invocations by name of the arm; the i-th invocations of all arms ran side by side. Failed arms are missing. */
  readonly invocations: ReadonlyMap<string, readonly Invocation[]>;
  /** Invocations of the second baseline. */
  readonly nullInvocations: readonly Invocation[];
  readonly failed: readonly string[];
  readonly lost: number;
  readonly stopped: 'invocations' | 'budget' | 'interrupted';
  /** State of the machine during the measurement, one element for each block. */
  readonly machine: readonly MachineState[];
  readonly warnings: readonly string[];
}

/**
 * Measures every arm in fresh pairs of processes until the budget ends. Within each block the arms run in random order, the baseline twice.
 * Each has its share of the time that is left, so that the budget holds whatever an exchange takes: large packets and busy machines cost
 * rounds. An arm that fails is left out from then on, by name; the measurements of an interrupted block do not count.
 */
export async function measureStacks(options: CompareStacksOptions): Promise<MeasuredStacks> {
  const { random, budgetMs, onProgress, onInvocation, onNote, signal, hasExtras = true } = options;
  const [baseline] = options.arms;
  const left = new Map(options.arms.map((arm) => [arm.name, arm]));
  const done = new Map<string, Invocation[]>(options.arms.map(({ name }) => [name, []]));
  const nullInvocations: Invocation[] = [];
  const failed: string[] = [];
  const { maxInFlight, concurrency, warnings } = limitConcurrency(options);
  let lost = 0;
  let overheadMs = GUESSED_OVERHEAD_MS;
  const loadBefore = os.loadavg()[0] ?? 0;
  const stateOf = watchMachine();
  const machine: MachineState[] = [];
  const startMs = performance.now();
  let stopped: MeasuredStacks['stopped'] = 'invocations';
  for (let block = 0; block < options.invocations; block++) {
    const elapsedMs = performance.now() - startMs;
    const slots = left.size + 1;
    const blocksLeft = Math.max(1, Math.min(WANTED_INVOCATIONS, options.invocations) - block);
    const ownMs =
      options.measuredMs ?? clampMeasuredMs((budgetMs - elapsedMs) / (blocksLeft * slots) - overheadMs);
    if (block > 0 && elapsedMs + slots * (ownMs + overheadMs) > budgetMs) {
      stopped = 'budget';
      break;
    }
    try {
      const measured = await playBlock(block, ownMs);
      if (measured === undefined) {
        stopped = 'budget';
        break;
      }
      for (const { arm, isNull, result } of measured)
        (isNull ? nullInvocations : done.get(arm))?.push(result);
      machine.push(stateOf());
      onInvocation?.(measured);
    } catch (error) {
      // After Ctrl-C the measurements so far are worth a report.
      if (!signal.aborted || block === 0) throw error;
      stopped = 'interrupted';
      break;
    }
    overheadMs = Math.max(100, (performance.now() - startMs - elapsedMs) / slots - ownMs);
  }
  const invocations = new Map([...left.keys()].map((name) => [name, done.get(name) ?? []]));
  const elapsedMs = performance.now() - startMs;
  warnings.push(
    ...listBudgetWarnings(options, nullInvocations, elapsedMs),
    ...listMachineWarnings(machine, { loadBefore, cores: os.availableParallelism(), elapsedMs }),
  );
  return { concurrency, invocations, nullInvocations, failed, lost, stopped, machine, warnings };

  /** Plays one invocation of every arm; returns undefined if the budget ended before each had a round. */
  async function playBlock(block: number, ownMs: number): Promise<MeasuredInvocation[] | undefined> {
    const slots = drawRound([...left.keys()], baseline.name, random);
    const measured: MeasuredInvocation[] = [];
    for (const [index, { arm: name, isNull }] of slots.entries()) {
      const arm = left.get(name);
      if (arm === undefined) continue;
      const nowMs = performance.now();
      onProgress(
        (nowMs - startMs) / budgetMs,
        `invocation ${block + 1}, ${index + 1} of ${slots.length}: ${name}`,
      );
      const isFirst = block === 0 && !isNull;
      const endMs = startMs + budgetMs;
      const shareMs = (endMs - nowMs) / (slots.length - index);
      const plannedEndMs = nowMs + shareMs;
      // A slow arm may use the share of another one for its first round.
      const firstEndMs = Math.max(nowMs + FIRST_MS, Math.min(endMs, nowMs + 2 * shareMs));
      const result = await tried(arm, {
        budgetMs: ownMs,
        rounds: options.rounds,
        concurrency,
        ratePerS: options.ratePerS,
        countsBytes: block < COUNTED_INVOCATIONS && !isNull,
        growsTask: hasExtras && isFirst,
        raisesLoad: hasExtras && block === 1 && !isNull,
        maxInFlight,
        plannedEndMs,
        endMs: block === 0 ? firstEndMs : plannedEndMs,
      });
      if (result !== undefined) {
        measured.push({ arm: name, isNull, result });
        options.onMeasured?.({ arm: name, isNull, result });
      } else if (block > 0 && !failed.some((why) => why.startsWith(`${name}: `))) {
        return undefined;
      } else {
        if (arm === baseline) throw new MeshError('agent', `the baseline failed: ${failed.at(-1)}`);
        left.delete(name);
      }
    }
    return trimRounds(measured.filter(({ arm }) => left.has(arm)));
  }

  /** Measures one invocation; returns undefined if the arm fails, which is then named, or if its time is over. */
  async function tried(arm: Arm, protocol: Protocol): Promise<Invocation | undefined> {
    for (let attempt = 1; ; attempt++) {
      try {
        const result = await measureInvocation(buildPairOptions(arm, options), protocol, signal);
        if (result === undefined && (done.get(arm.name)?.length ?? 0) === 0) {
          const seconds = formatDecimals(budgetMs / 1000, 0);
          leaveOut(arm, `a first round does not fit into its share of ${seconds} s: give a longer --budget`);
        }
        return result;
      } catch (error) {
        if (!(error instanceof MeshError) || signal.aborted) throw error;
        if (error.code === 'agent' && attempt < MAX_TRIES && performance.now() < protocol.endMs) {
          lost += 1;
          onNote(`tried again: ${error.message}`);
          continue;
        }
        leaveOut(arm, error.message);
        return undefined;
      }
    }
  }

  function leaveOut({ name }: Arm, why: string): void {
    failed.push(`${name}: ${why}`);
    onNote(`left out: ${name}: ${why}`);
  }
}

/** Returns the number of exchanges that may be under way at the same time, and the concurrencies within it. */
function limitConcurrency({ arms, exchangesOf, concurrency }: CompareStacksOptions) {
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

/** Keeps as many rounds of each as all have, since rounds are compared in pairs. */
function trimRounds(measured: readonly MeasuredInvocation[]): MeasuredInvocation[] {
  const fewest = Math.min(...measured.map(({ result }) => result.rounds.length));
  return measured.map((each) => {
    return { ...each, result: { ...each.result, rounds: each.result.rounds.slice(0, fewest) } };
  });
}

function clampMeasuredMs(ms: number): number {
  return Math.min(MEASURED_MS.most, Math.max(MEASURED_MS.least, ms));
}

function buildPairOptions(arm: Arm, { identity, exchangesOf }: CompareStacksOptions): PairOptions {
  const { stack, settings } = arm;
  return {
    stack,
    settings: toStackSettings(settings, identity),
    exchanges: exchangesOf(arm),
    workMs: settings.workMs,
  };
}
