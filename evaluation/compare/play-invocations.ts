import type { ProtocolAdapter } from '@gaia-mesh/core/contracts/adapter.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { ReplayMesh, Round } from '@gaia-mesh/core/recording/replay/replay-mesh.ts';
import { type MachineState, watchMachine } from '@gaia-mesh/core/system/process/machine-state.ts';
import type { Random } from '@gaia-mesh/core/system/random.ts';
import { drawRound } from '../statistics/schedule.ts';

/** What is measured: so many fresh processes of each arm, and so many samples of each. */
export interface Design {
  readonly invocations: number;
  readonly rounds: number;
  /** For all of it. It is kept, not overrun, and comes before the number of invocations. */
  readonly budgetMs: number;
}

/** Processes that carry packets; fresh ones for every invocation of every arm. */
export type PlayedMesh = Pick<ReplayMesh, 'play' | 'stop'>;

interface PlayOptions {
  readonly start: () => Promise<PlayedMesh>;
  /** Processes that one `start` costs. */
  readonly processes: number;
  /** Packets of the recording. */
  readonly packets: number;
  /** The first is the baseline. */
  readonly adapters: readonly [ProtocolAdapter, ...ProtocolAdapter[]];
  readonly design: Design;
  readonly random: Random;
  readonly onInvocation: (progress: InvocationProgress) => void;
  /** An invocation was lost, and why. */
  readonly onLost: (why: string) => void;
  /** Ends it: invocations that were played whole count. */
  readonly signal: AbortSignal;
}

/** An invocation of all arms is over. It is told between invocations: while one is measured, nothing is told. */
export interface InvocationProgress {
  readonly invocations: number;
  readonly elapsedMs: number;
  readonly played: readonly { readonly arm: string; readonly rounds: readonly Round[] }[];
}

/** One invocation of one arm. */
export interface PlayedInvocation {
  /** The recording once, by processes that had done nothing before: code is cold, and keys are made. */
  readonly first: Round;
  readonly rounds: readonly Round[];
}

interface PlayedRound extends MachineState {
  readonly invocation: number;
  readonly round: number;
}

interface PlayedInvocations {
  /** By arm, an invocation an element; the null arm's are those of the baseline a second time. */
  readonly arms: ReadonlyMap<string, readonly PlayedInvocation[]>;
  readonly nullArm: readonly PlayedInvocation[];
  /** Times that the recording is played in one sample. */
  readonly passes: number;
  readonly elapsedMs: number;
  readonly machine: readonly PlayedRound[];
  readonly lost: number;
  readonly stopped: 'invocations' | 'budget' | 'interrupted';
}

/** A sample of the baseline lasts at least so long: then a pause of a millisecond is a thirtieth of it, and a clock's step nothing. */
const SAMPLE_MS = 30;
/** … and has at least so many packets, however slow a busy machine is just then. */
const SAMPLE_PACKETS = 100;
/** Of a recording of one tiny packet; beyond it, the ids that layers count would grow. */
const MAX_PASSES = 256;
/** Processes that are alive at a time: they take about 50 MB each. Arms beyond are played after those before have ended. */
const MAX_ALIVE = 64;
/** Invocations that may be lost one after the other. */
const MAX_LOST_IN_A_ROW = 3;

interface Slot {
  readonly arm: string;
  readonly isNull: boolean;
}

/**
 * Plays one recording through every adapter, in fresh processes for each invocation (T. Kalibera and R. Jones, 2013), the baseline by two
 * sets of processes: the second is the null arm. Arms take turns within a round, in random order, so that what slows the machine slows
 * all of them. The number of invocations is fixed beforehand or follows from the time that they take, never from what they show.
 */
export async function playInvocations(options: PlayOptions): Promise<PlayedInvocations> {
  const { adapters, design, signal, onInvocation, onLost } = options;
  const arms = new Map<string, PlayedInvocation[]>(adapters.map(({ name }) => [name, []]));
  const nullArm: PlayedInvocation[] = [];
  const machine: PlayedRound[] = [];
  const startMs = performance.now();
  const elapsed = () => performance.now() - startMs;
  let [done, lost, lostInARow, passes] = [0, 0, 0, 0];
  let stopped: PlayedInvocations['stopped'] = 'invocations';
  while (done < design.invocations) {
    // Another of average length must still fit.
    if (done > 0 && elapsed() * (1 + 1 / (done + lost)) > design.budgetMs) {
      stopped = 'budget';
      break;
    }
    try {
      passes = passes === 0 ? await choosePasses(options) : passes;
      const played = await playOne(options, passes, done);
      for (const [slot, invocation] of played.slots)
        (slot.isNull ? nullArm : arms.get(slot.arm))?.push(invocation);
      machine.push(...played.machine);
      done += 1;
      lostInARow = 0;
      const own = played.slots.filter(([{ isNull }]) => !isNull);
      onInvocation({
        ...{ invocations: done, elapsedMs: elapsed() },
        played: own.map(([{ arm }, { rounds }]) => ({ arm, rounds })),
      });
    } catch (error) {
      if (signal.aborted && done > 0) {
        stopped = 'interrupted';
        break;
      }
      // A connection that did not come about, as on a busy machine, costs its invocation; several one after the other mean more.
      const isConnection = error instanceof MeshError && error.code === 'agent';
      lostInARow += 1;
      if (!isConnection || lostInARow > MAX_LOST_IN_A_ROW || signal.aborted) throw error;
      lost += 1;
      onLost(error.message);
    }
  }
  return { arms, nullArm, passes, elapsedMs: elapsed(), machine, lost, stopped };
}

/** Passes of the baseline that last long enough; the same number for all, so that all have done as much when they are sampled. */
async function choosePasses({ start, packets, adapters: [baseline] }: PlayOptions): Promise<number> {
  const mesh = await start();
  try {
    const fewest = Math.min(Math.ceil(SAMPLE_PACKETS / packets), MAX_PASSES);
    for (let passes = fewest; ; passes = Math.min(2 * passes, MAX_PASSES)) {
      await mesh.play(baseline, passes);
      const { elapsedMs } = await mesh.play(baseline, passes);
      if (elapsedMs >= SAMPLE_MS || passes === MAX_PASSES) return passes;
    }
  } finally {
    await mesh.stop();
  }
}

/** One invocation of every arm. */
async function playOne(options: PlayOptions, passes: number, invocation: number) {
  const { adapters, processes, random } = options;
  const slots = drawRound(
    adapters.map(({ name }) => name),
    adapters[0].name,
    random,
  );
  const together = Math.max(1, Math.floor(MAX_ALIVE / processes));
  const played: { slots: [Slot, PlayedInvocation][]; machine: PlayedRound[] } = { slots: [], machine: [] };
  for (let from = 0; from < slots.length; from += together) {
    const group = await playTogether(options, slots.slice(from, from + together), passes);
    played.slots.push(...group.slots);
    played.machine.push(...group.machine.map((state, round) => ({ invocation, round, ...state })));
  }
  return played;
}

/** Arms whose processes are alive at the same time. */
async function playTogether(options: PlayOptions, slots: readonly Slot[], passes: number) {
  const { adapters, random, design } = options;
  const byName = new Map(adapters.map((adapter) => [adapter.name, adapter]));
  const started = await Promise.allSettled(slots.map(() => options.start()));
  const meshes = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  try {
    for (const one of started) if (one.status === 'rejected') throw one.reason;
    const alive = slots.map((slot, index) => {
      const [adapter, mesh] = [byName.get(slot.arm), meshes[index]];
      if (adapter === undefined || mesh === undefined) throw new Error(`no processes for ${slot.arm}`);
      return { slot, rounds: [] as Round[], play: (times: number) => mesh.play(adapter, times) };
    });
    const firsts = new Map<Slot, Round>();
    for (const { slot, play } of alive) firsts.set(slot, await play(1));
    // Played and not counted: what is compiled on the way is compiled by then, or nearly.
    for (const { play } of alive) await play(passes);
    const look = watchMachine();
    const machine: MachineState[] = [];
    for (let round = 0; round < design.rounds; round++) {
      for (const arm of random.shuffle(alive)) arm.rounds.push(await arm.play(passes));
      machine.push(look());
    }
    const played = alive.flatMap(({ slot, rounds }): [Slot, PlayedInvocation][] => {
      const first = firsts.get(slot);
      return first === undefined ? [] : [[slot, { first, rounds }]];
    });
    return { slots: played, machine };
  } finally {
    await Promise.all(meshes.map((mesh) => mesh.stop()));
  }
}
