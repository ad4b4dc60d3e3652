import os from 'node:os';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { type MachineState, watchMachine } from '@gaia-mesh/core/system/process/machine-state.ts';
import type { Random } from '@gaia-mesh/core/system/random.ts';
import type { TlsIdentity } from '@gaia-mesh/stacks/contract/stack.ts';
import { MIN_INVOCATIONS } from '../../statistics/levels.ts';
import { drawRound } from '../../statistics/schedule.ts';
import { listMachineWarnings } from '../machine-warnings.ts';
import type { Arm } from './arms.ts';
import { toStackSettings } from './factors.ts';
import { type Invocation, measureInvocation, type Protocol } from './invocation.ts';
import type { PairOptions } from './peers/pair.ts';
import type { PlannedExchange } from './peers/protocol.ts';

/** A verdict needs five fresh pairs of processes of each arm; more of them say more than longer ones. */
const WANTED_INVOCATIONS = MIN_INVOCATIONS;
/** An invocation is measured for at most so long, and no shorter than what its loads need to be loads. */
const MEASURED_MS = { least: 400, most: 3000 };
/** What starting, setting up and ending two processes takes, until it has been seen. */
const GUESSED_OVERHEAD_MS = 2000;
/** Bytes are counted in so many invocations: twice, to see whether they are the same. */
const COUNTED_INVOCATIONS = 2;
/** A connection that did not come about, as on a busy machine, is tried again in fresh processes so often. */
const MAX_TRIES = 3;

interface CompareStacksOptions {
  /** The first is the baseline. */
  readonly arms: readonly [Arm, ...Arm[]];
  /** What an arm plays. */
  readonly exchangesOf: (arm: Arm) => readonly PlannedExchange[];
  readonly identity: TlsIdentity | null;
  readonly concurrency: readonly number[];
  readonly ratePerS: number;
  readonly budgetMs: number;
  /** Most of each arm; as many as the budget allows. */
  readonly invocations: number;
  /** In each of them. */
  readonly rounds: number;
  /** Milliseconds that each is measured for; what the budget leaves unless given. */
  readonly measuredMs?: number;
  /** Also lets a task grow in the first invocation of each arm, and raises the load in the second; true unless said otherwise. */
  readonly hasExtras?: boolean;
  readonly random: Random;
  /** What was done of the budget, 0 to 1, and what is being done. */
  readonly onProgress: (share: number, what: string) => void;
  /** An invocation of all arms is over: what counts of it. It is told between invocations. */
  readonly onInvocation?: (measured: readonly MeasuredInvocation[]) => void;
  readonly onNote: (note: string) => void;
  readonly signal: AbortSignal;
}

export interface MeasuredInvocation {
  readonly arm: string;
  /** Of the second baseline. */
  readonly isNull: boolean;
  readonly result: Invocation;
}

export interface MeasuredStacks {
  /** By name of the arm; the i-th invocations of all arms ran side by side. Arms that failed are missing. */
  readonly invocations: ReadonlyMap<string, readonly Invocation[]>;
  /** Of the second baseline. */
  readonly nullInvocations: readonly Invocation[];
  readonly failed: readonly string[];
  readonly lost: number;
  readonly stopped: 'invocations' | 'budget' | 'interrupted';
  /** What the machine did meanwhile, a block an element. */
  readonly machine: readonly MachineState[];
  readonly warnings: readonly string[];
}

/**
 * Measures every arm in fresh pairs of processes, the arms in random order within each block and the baseline twice, until the budget
 * ends. An arm that fails is left out from then on, by name; what was measured of a block that was broken off does not count.
 */
export async function measureStacks(options: CompareStacksOptions): Promise<MeasuredStacks> {
  const { random, budgetMs, onProgress, onInvocation, onNote, signal, hasExtras = true } = options;
  const [baseline] = options.arms;
  const left = new Map(options.arms.map((arm) => [arm.name, arm]));
  const done = new Map<string, Invocation[]>(options.arms.map(({ name }) => [name, []]));
  const nullInvocations: Invocation[] = [];
  const failed: string[] = [];
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
      for (const { arm, isNull, result } of measured)
        (isNull ? nullInvocations : done.get(arm))?.push(result);
      machine.push(stateOf());
      onInvocation?.(measured);
    } catch (error) {
      // Ctrl-C: what was measured is worth a report.
      if (!signal.aborted || block === 0) throw error;
      stopped = 'interrupted';
      break;
    }
    overheadMs = Math.max(100, (performance.now() - startMs - elapsedMs) / slots - ownMs);
  }
  const invocations = new Map([...left.keys()].map((name) => [name, done.get(name) ?? []]));
  const warnings = listMachineWarnings(machine, {
    loadBefore,
    cores: os.availableParallelism(),
    elapsedMs: performance.now() - startMs,
  });
  return { invocations, nullInvocations, failed, lost, stopped, machine, warnings };

  async function playBlock(block: number, ownMs: number): Promise<MeasuredInvocation[]> {
    const slots = drawRound([...left.keys()], baseline.name, random);
    const measured: MeasuredInvocation[] = [];
    for (const [index, { arm: name, isNull }] of slots.entries()) {
      const arm = left.get(name);
      if (arm === undefined) continue;
      const share = (performance.now() - startMs) / budgetMs;
      onProgress(share, `invocation ${block + 1}, ${index + 1} of ${slots.length}: ${name}`);
      const isFirst = block === 0 && !isNull;
      const result = await tried(arm, {
        budgetMs: ownMs,
        rounds: options.rounds,
        concurrency: options.concurrency,
        ratePerS: options.ratePerS,
        countsBytes: block < COUNTED_INVOCATIONS && !isNull,
        growsTask: hasExtras && isFirst,
        raisesLoad: hasExtras && block === 1 && !isNull,
      });
      if (result === undefined) {
        if (arm === baseline) throw new MeshError('agent', `the baseline failed: ${failed.at(-1)}`);
        left.delete(name);
      } else {
        measured.push({ arm: name, isNull, result });
      }
    }
    return measured.filter(({ arm }) => left.has(arm));
  }

  /** undefined for an arm that fails, which is then named. */
  async function tried(arm: Arm, protocol: Protocol): Promise<Invocation | undefined> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await measureInvocation(buildPairOptions(arm, options), protocol, signal);
      } catch (error) {
        if (!(error instanceof MeshError) || signal.aborted) throw error;
        if (error.code === 'agent' && attempt < MAX_TRIES) {
          lost += 1;
          onNote(`tried again: ${error.message}`);
          continue;
        }
        failed.push(`${arm.name}: ${error.message}`);
        onNote(`left out: ${arm.name}: ${error.message}`);
        return undefined;
      }
    }
  }
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
