import os from 'node:os';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { type MachineState, watchMachine } from '@gaia-mesh/core/system/process/machine-state.ts';
import type { Random } from '@gaia-mesh/core/system/random.ts';
import { MIN_INVOCATIONS } from '../statistics/nested-samples.ts';
import { formatDecimals, toOneLine } from '../terminal/table.ts';
import { listBudgetWarnings, listMachineWarnings, readOthersMs } from './machine-warnings.ts';

/** The size of a measurement: fresh processes of each arm, and samples of each. */
export interface Design {
  readonly invocations: number;
  readonly rounds: number;
  /** Time limit for the whole measurement, in milliseconds. It takes precedence over the number of invocations. */
  readonly budgetMs: number;
}

/** One invocation of one arm: fresh processes, which the experiment measures in rounds and then stops. */
export interface Session<Result> {
  /** Measures what a process does only once, such as its first use, before anything else. */
  begin(): Promise<void>;
  /** Warms up the code, which is not measured. */
  warmUp(): Promise<void>;
  round(): Promise<void>;
  /** Measures what follows the rounds. */
  finish?(): Promise<void>;
  /** Returns the results so far: whatever is missing after an end of its time was not measured. */
  result(): Result;
  stop(): Promise<void>;
}

/** Facts that an arm needs to plan its invocation. */
export interface InvocationPlan {
  /** Number of the block, from 0. */
  readonly block: number;
  /** True for the second run of the baseline. */
  readonly isNull: boolean;
  /** Time (of `performance.now()`) after which nothing more should begin. */
  readonly plannedEndMs: number;
  /** Ends the processes: the user interrupted the experiment, or the invocation's time is over. */
  readonly signal: AbortSignal;
}

/** An arm of an experiment: an adapter, a stack, or whatever else carries the same traffic. */
interface Arm<Result> {
  readonly name: string;
  open(plan: InvocationPlan): Promise<Session<Result>>;
}

interface WithRounds {
  readonly rounds: readonly unknown[];
}

export interface MeasuredInvocation<Result> {
  readonly arm: string;
  readonly isNull: boolean;
  readonly result: Result;
}

/** The arms of an experiment, and how they are played. */
export interface ArmsPlan<Result extends WithRounds> {
  /** The first is the baseline. */
  readonly arms: readonly [Arm<Result>, ...Arm<Result>[]];
  readonly design: Design;
  /** Maximum arms whose processes are alive at the same time; their rounds take turns. Further arms are played after them. */
  readonly together: number;
  /** Time that the first invocation of an arm has even if the budget is shorter. */
  readonly firstMs: number;
  /** Prepares the next block and estimates its milliseconds; undefined if it takes as long as those before. */
  readonly planBlock: (block: number, leftMs: number, slots: number) => Promise<number | undefined>;
}

/** The context of an experiment while it runs: its signal and its listeners. */
export interface ExperimentContext<Result> {
  readonly random: Random;
  /** Receives the used share of the budget, 0 to 1, and the current activity; never during a round. */
  readonly onProgress: (share: number, what: string) => void;
  /** Receives a block's invocations of all arms. */
  readonly onBlock?: ((measured: readonly MeasuredInvocation<Result>[]) => void) | undefined;
  /** Receives the reason why an invocation was lost, or an arm left out. */
  readonly onNote: (note: string) => void;
  /** Ends the experiment; complete blocks count. */
  readonly signal: AbortSignal;
}

export interface MeasuredArms<Result> {
  /** Invocations by name of the arm; the i-th invocations of all arms ran side by side. Arms that failed are missing. */
  readonly invocations: ReadonlyMap<string, readonly Result[]>;
  /** Invocations of the baseline's second arm. */
  readonly nullArm: readonly Result[];
  /** Arms that failed, with reasons. */
  readonly failed: readonly string[];
  /** Invocations that a failed connection ended; they were played again and are in no figure. */
  readonly lost: number;
  readonly stopped: 'invocations' | 'budget' | 'interrupted';
  readonly elapsedMs: number;
  /** State of the machine after each round of the arms that were played together. */
  readonly machine: readonly (MachineState & { readonly invocation: number; readonly round: number })[];
  /** Problems of the machine and of the budget, one sentence each. */
  readonly warnings: readonly string[];
}

/** Maximum tries of an invocation. A failed connection, as on a busy machine, is tried again in fresh processes. */
const MAX_TRIES = 3;

interface Slot<Result> {
  readonly arm: Arm<Result>;
  /** True for the second run of the baseline in a block; the null comparison compares it with the first. */
  readonly isNull: boolean;
}

/** An arm that failed; without an error, its time was over before it had a round. */
interface Failure<Result> {
  readonly arm: Arm<Result>;
  readonly error?: MeshError;
}

/**
 * Measures arms in fresh processes for each invocation (T. Kalibera and R. Jones, 2013), and the baseline in two sets of processes: the
 * second is the null arm. A block has one invocation of every arm, in random order; arms that are alive together take turns within a round,
 * so anything that slows the machine slows all of them. The number of blocks is fixed beforehand or follows from the time that they take,
 * never from their results.
 *
 * One rule holds for lost tries: whatever a failed connection ends is played again in fresh processes, up to three times. An arm that still
 * fails, or fails in another way, is left out from then on, by name; without a baseline there is nothing to compare.
 */
export class Experiment<Result extends WithRounds> {
  readonly #plan: ArmsPlan<Result>;
  readonly #context: ExperimentContext<Result>;
  readonly #arms: Map<string, Arm<Result>>;
  readonly #done: Map<string, Result[]>;
  readonly #nullArm: Result[] = [];
  readonly #failed: string[] = [];
  readonly #machine: MeasuredArms<Result>['machine'][number][] = [];
  #startMs = 0;
  #lost = 0;

  constructor(plan: ArmsPlan<Result>, context: ExperimentContext<Result>) {
    this.#plan = plan;
    this.#context = context;
    this.#arms = new Map(plan.arms.map((arm) => [arm.name, arm]));
    this.#done = new Map(plan.arms.map(({ name }) => [name, []]));
  }

  async run(): Promise<MeasuredArms<Result>> {
    const { design } = this.#plan;
    const { onBlock, signal } = this.#context;
    const loadBefore = os.loadavg()[0] ?? 0;
    const othersBeforeMs = readOthersMs();
    this.#startMs = performance.now();
    let stopped: MeasuredArms<Result>['stopped'] = 'invocations';
    for (let block = 0; block < design.invocations; block++) {
      try {
        const played = (await this.#fits(block)) ? await this.#playBlock(block) : undefined;
        if (played === undefined) {
          stopped = 'budget';
          break;
        }
        for (const { arm, isNull, result } of played)
          (isNull ? this.#nullArm : this.#done.get(arm))?.push(result);
        onBlock?.(played);
      } catch (error) {
        // After Ctrl-C the measurements so far are worth a report.
        if (!signal.aborted || block === 0) throw error;
        stopped = 'interrupted';
        break;
      }
    }
    const elapsedMs = performance.now() - this.#startMs;
    return {
      invocations: new Map([...this.#arms.keys()].map((name) => [name, this.#done.get(name) ?? []])),
      nullArm: this.#nullArm,
      failed: this.#failed,
      lost: this.#lost,
      stopped,
      elapsedMs,
      machine: this.#machine,
      warnings: [
        ...listBudgetWarnings(design, this.#nullArm, elapsedMs),
        ...listMachineWarnings(this.#machine, {
          loadBefore,
          othersMs: readOthersMs() - othersBeforeMs,
          elapsedMs,
        }),
      ],
    };
  }

  /** Tells if another block fits into the budget; the first one is played in any case. */
  async #fits(block: number): Promise<boolean> {
    const { design, planBlock } = this.#plan;
    for (let tries = 1; ; tries++) {
      const elapsedMs = performance.now() - this.#startMs;
      const leftMs = design.budgetMs - elapsedMs;
      try {
        const estimateMs = await planBlock(block, leftMs, this.#arms.size + 1);
        return block === 0 || (estimateMs ?? elapsedMs / block) <= leftMs;
      } catch (error) {
        if (!this.#isToTryAgain(error, tries)) throw error;
      }
    }
  }

  /** Tells if what failed is tried again, which is then counted as lost. */
  #isToTryAgain(error: unknown, tries: number): boolean {
    const { signal, onNote } = this.#context;
    const isConnection = error instanceof MeshError && error.code === 'agent';
    if (!isConnection || tries >= MAX_TRIES || signal.aborted) return false;
    this.#lost += 1;
    onNote(`an invocation was lost and is played again: ${toOneLine(error.message, 200)}`);
    return true;
  }

  /** Plays one invocation of every arm; returns undefined if the budget ended before each had a round. */
  async #playBlock(block: number): Promise<MeasuredInvocation<Result>[] | undefined> {
    const { together } = this.#plan;
    const slots = this.#drawSlots();
    const played: MeasuredInvocation<Result>[] = [];
    for (let begin = 0; begin < slots.length; begin += together) {
      const group = slots.slice(begin, begin + together);
      const groupsLeft = Math.ceil((slots.length - begin) / together);
      const own = await this.#playTries(group, block, groupsLeft, begin);
      if (own === undefined) return undefined;
      played.push(...own);
    }
    return trimRounds(played.filter(({ arm }) => this.#arms.has(arm)));
  }

  /**
   * Draws the order of a block: each arm once, the baseline twice. Arms that run close together meet the same machine, and a random position
   * in each block keeps warm caches and rising clock rates from favouring one of them. Which of the two baseline runs is the null run is
   * random, too: if it were always the later one, anything that grows within a block would look like noise.
   */
  #drawSlots(): Slot<Result>[] {
    const [baseline] = this.#plan.arms;
    const arms = [...this.#arms.values()].map((arm) => ({ arm, isNull: false }));
    return this.#context.random.shuffle([...arms, { arm: baseline, isNull: true }]);
  }

  /** Plays a group until it is measured, without the arms that fail; returns undefined if its time is over. */
  async #playTries(group: readonly Slot<Result>[], block: number, groupsLeft: number, begin: number) {
    const { design } = this.#plan;
    const share = Math.max(block / design.invocations, (performance.now() - this.#startMs) / design.budgetMs);
    const [first] = group;
    const which = group.length > 1 ? 'all' : toOneLine(first?.arm.name ?? '', 60);
    this.#context.onProgress(
      Math.min(1, share),
      `invocation ${block + 1}, ${begin + group.length} of ${this.#arms.size + 1}: ${which}`,
    );
    let slots = group;
    for (let tries = 1; slots.length > 0; tries++) {
      const endMs = this.#planEnd(block, performance.now(), groupsLeft);
      const played = await this.#playTogether(slots, block, endMs);
      if ('measured' in played) return played.measured;
      if (played.error === undefined && block > 0) return undefined;
      const isLate = performance.now() >= endMs.hard;
      if (!isLate && this.#isToTryAgain(played.error, tries)) continue;
      slots = this.#leaveOut(slots, played);
      tries = 0;
    }
    return [];
  }

  /** Plans the ends of an invocation: the time after which nothing more begins, and the time at which its processes are ended. */
  #planEnd(block: number, nowMs: number, groupsLeft: number): { planned: number; hard: number } {
    const { design, firstMs } = this.#plan;
    const endMs = this.#startMs + design.budgetMs;
    const shareMs = (endMs - nowMs) / groupsLeft;
    const planned = nowMs + shareMs;
    // A slow arm may use the share of another one for its first round.
    const first = Math.max(nowMs + firstMs, Math.min(endMs, nowMs + 2 * shareMs));
    return { planned, hard: block === 0 ? first : planned };
  }

  /** Leaves an arm out from now on. Without the baseline the experiment ends. */
  #leaveOut(slots: readonly Slot<Result>[], { arm, error }: Failure<Result>): Slot<Result>[] {
    const { arms, design } = this.#plan;
    const budgetS = design.budgetMs / 1000;
    const why =
      error?.message ??
      `a first round does not fit into its share of ${formatDecimals(budgetS, 0)} s: give --budget ${Math.ceil(MIN_INVOCATIONS * budgetS)} or more`;
    if (arm.name === arms[0].name)
      throw new MeshError(error?.code ?? 'agent', `the baseline failed: ${arm.name}: ${why}`, {
        cause: error,
      });
    this.#failed.push(`${arm.name}: ${why}`);
    this.#context.onNote(`left out: ${arm.name}: ${why}`);
    this.#arms.delete(arm.name);
    return slots.filter((slot) => slot.arm !== arm);
  }

  /**
   * Plays arms whose processes are alive at the same time, with fewer rounds if they would not end in time.
   *
   * @returns their invocations, or one arm that failed
   */
  async #playTogether(
    slots: readonly Slot<Result>[],
    block: number,
    endMs: { readonly planned: number; readonly hard: number },
  ): Promise<{ readonly measured: MeasuredInvocation<Result>[] } | Failure<Result>> {
    const { random, signal } = this.#context;
    const over = new AbortController();
    const timer = Number.isFinite(endMs.hard)
      ? setTimeout(() => over.abort(), endMs.hard - performance.now())
      : undefined;
    const plan = { block, plannedEndMs: endMs.planned, signal: AbortSignal.any([signal, over.signal]) };
    const opened = await Promise.allSettled(slots.map(({ arm, isNull }) => arm.open({ ...plan, isNull })));
    const alive = opened.flatMap((one, index) => {
      const slot = slots[index];
      return one.status === 'fulfilled' && slot !== undefined
        ? [{ ...slot, session: one.value, rounds: 0 }]
        : [];
    });
    const machine: MachineState[] = [];
    let current = slots[0];
    try {
      for (const [index, one] of opened.entries()) {
        current = slots[index];
        if (one.status === 'rejected') throw one.reason;
      }
      for (const own of alive) {
        current = own;
        await own.session.begin();
      }
      for (const own of alive) {
        current = own;
        if (performance.now() < endMs.planned) await own.session.warmUp();
      }
      const look = watchMachine();
      for (let tookMs = 0; machine.length < this.#plan.design.rounds; ) {
        const beganMs = performance.now();
        if (machine.length > 0 && beganMs + tookMs > endMs.planned) break;
        for (const own of random.shuffle(alive)) {
          current = own;
          await own.session.round();
          own.rounds += 1;
        }
        machine.push(look());
        tookMs = performance.now() - beganMs;
      }
      for (const own of alive) {
        current = own;
        await own.session.finish?.();
      }
    } catch (error) {
      signal.throwIfAborted();
      if (!over.signal.aborted) {
        if (!(error instanceof MeshError) || current === undefined) throw error;
        return { arm: current.arm, error };
      }
    } finally {
      clearTimeout(timer);
      await Promise.all(alive.map(({ session }) => session.stop()));
    }
    const late = alive.length < slots.length ? slots[0] : alive.find(({ rounds }) => rounds === 0);
    if (late !== undefined) return { arm: late.arm };
    this.#machine.push(...machine.map((state, round) => ({ invocation: block, round, ...state })));
    return {
      measured: alive.map(({ arm, isNull, session }) => {
        return { arm: arm.name, isNull, result: session.result() };
      }),
    };
  }
}

/** Keeps as many rounds of each as all have, since rounds are compared in pairs. */
function trimRounds<Result extends WithRounds>(
  measured: readonly MeasuredInvocation<Result>[],
): MeasuredInvocation<Result>[] {
  const fewest = Math.min(...measured.map(({ result }) => result.rounds.length));
  return measured.map((each) => {
    return { ...each, result: { ...each.result, rounds: each.result.rounds.slice(0, fewest) } };
  });
}
