import type { ProtocolAdapter } from '@gaia-mesh/core/contracts/adapter.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { ReplayMesh, Round } from '@gaia-mesh/core/recording/replay/replay-mesh.ts';
import { type MachineState, watchMachine } from '@gaia-mesh/core/system/process/machine-state.ts';
import type { Random } from '@gaia-mesh/core/system/random.ts';
import { MIN_INVOCATIONS } from '../statistics/levels.ts';
import { drawRound } from '../statistics/schedule.ts';

/** The size of a measurement: fresh processes of each arm, and samples of each. */
export interface Design {
  readonly invocations: number;
  readonly rounds: number;
  /** Time limit for the whole measurement, in milliseconds. It takes precedence over the number of invocations. */
  readonly budgetMs: number;
}

/** Processes that carry packets; fresh ones for every invocation of every arm. */
export type PlayedMesh = Pick<ReplayMesh, 'play' | 'stop'>;

interface PlayOptions {
  readonly start: () => Promise<PlayedMesh>;
  /** Processes that one `start` creates. */
  readonly processes: number;
  /** Packets of the recording. */
  readonly packets: number;
  /** The first is the baseline. */
  readonly adapters: readonly [ProtocolAdapter, ...ProtocolAdapter[]];
  readonly design: Design;
  readonly random: Random;
  readonly onInvocation: (progress: InvocationProgress) => void;
  /** Receives the reason when an invocation is lost. */
  readonly onLost: (why: string) => void;
  /** Ends the measurement; complete invocations count. */
  readonly signal: AbortSignal;
}

/** Progress after an invocation of all arms. It is reported between invocations only, so that nothing disturbs a measurement. */
export interface InvocationProgress {
  readonly invocations: number;
  readonly elapsedMs: number;
  readonly played: readonly { readonly arm: string; readonly rounds: readonly Round[] }[];
}

/** One invocation of one arm. */
export interface PlayedInvocation {
  /** The first pass of the recording in fresh processes, with cold code and key generation. */
  readonly first: Round;
  readonly rounds: readonly Round[];
}

interface PlayedRound extends MachineState {
  readonly invocation: number;
  readonly round: number;
}

interface PlayedInvocations {
  /** Invocations of each arm; those of the null arm are a second set of the baseline. */
  readonly arms: ReadonlyMap<string, readonly PlayedInvocation[]>;
  readonly nullArm: readonly PlayedInvocation[];
  /** Passes of the recording in one sample. */
  readonly passes: number;
  readonly elapsedMs: number;
  readonly machine: readonly PlayedRound[];
  readonly lost: number;
  readonly stopped: 'invocations' | 'budget' | 'interrupted';
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
/** Maximum invocations lost in a row. */
const MAX_LOST_IN_A_ROW = 3;
/** Estimate of the time of an average adapter, as a multiple of the baseline's, until it has been measured. */
const GUESSED_RATIO = 2;

interface Slot {
  readonly arm: string;
  readonly isNull: boolean;
}

/**
 * Plays one recording through every adapter, in fresh processes for each invocation (T. Kalibera and R. Jones, 2013), and the baseline in
 * two sets of processes: the second is the null arm. Arms take turns within a round, in random order, so anything that slows the machine
 * slows all of them. The number of invocations is fixed beforehand or follows from the time that they take, never from their results.
 */
export async function playInvocations(options: PlayOptions): Promise<PlayedInvocations> {
  const { adapters, design, signal, onInvocation, onLost } = options;
  const arms = new Map<string, PlayedInvocation[]>(adapters.map(({ name }) => [name, []]));
  const nullArm: PlayedInvocation[] = [];
  const machine: PlayedRound[] = [];
  const startMs = performance.now();
  const elapsed = () => performance.now() - startMs;
  const endMs = startMs + design.budgetMs;
  let [done, lost, lostInARow, passes] = [0, 0, 0, 0];
  let stopped: PlayedInvocations['stopped'] = 'invocations';
  while (done < design.invocations) {
    // Another invocation of average length must still fit.
    if (done > 0 && elapsed() * (1 + 1 / (done + lost)) > design.budgetMs) {
      stopped = 'budget';
      break;
    }
    try {
      passes = passes === 0 ? await choosePasses(options, endMs) : passes;
      const played = await playOne(options, passes, done, endMs);
      for (const [slot, invocation] of played.slots)
        (slot.isNull ? nullArm : arms.get(slot.arm))?.push(invocation);
      machine.push(...played.machine);
      done += 1;
      lostInARow = 0;
      const own = played.slots.filter(([{ isNull }]) => !isNull);
      onInvocation({
        invocations: done,
        elapsedMs: elapsed(),
        played: own.map(([{ arm }, { rounds }]) => ({ arm, rounds })),
      });
    } catch (error) {
      if (signal.aborted && done > 0) {
        stopped = 'interrupted';
        break;
      }
      // A failed connection, as on a busy machine, costs its invocation; several in a row are an error.
      const isConnection = error instanceof MeshError && error.code === 'agent';
      lostInARow += 1;
      if (!isConnection || lostInARow > MAX_LOST_IN_A_ROW || signal.aborted) throw error;
      lost += 1;
      onLost(error.message);
    }
  }
  return { arms, nullArm, passes, elapsedMs: elapsed(), machine, lost, stopped };
}

/**
 * Chooses a number of passes for which the baseline lasts long enough, and with which the invocations for a verdict fit into the budget.
 * All arms use it, so that all have done the same work when they are sampled.
 */
async function choosePasses(
  { start, packets, adapters, design }: PlayOptions,
  endMs: number,
): Promise<number> {
  const [baseline] = adapters;
  const mesh = await start();
  const timed = async (passes: number) => {
    const beganMs = performance.now();
    const { elapsedMs } = await mesh.play(baseline, passes);
    return { elapsedMs, tookMs: Math.max(elapsedMs, performance.now() - beganMs) };
  };
  try {
    const samples = MIN_INVOCATIONS * (1 + design.rounds) * (1 + GUESSED_RATIO * adapters.length);
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
      await mesh.play(baseline, passes);
      const { elapsedMs } = await timed(passes);
      if (elapsedMs >= SAMPLE_MS) return passes;
    }
  } finally {
    await mesh.stop();
  }
}

/** Plays one invocation of every arm, which has at least one round whatever the time. */
async function playOne(options: PlayOptions, passes: number, invocation: number, endMs: number) {
  const { adapters, processes, random } = options;
  const slots = drawRound(
    adapters.map(({ name }) => name),
    adapters[0].name,
    random,
  );
  const together = Math.max(1, Math.floor(MAX_ALIVE / processes));
  const groups = Array.from({ length: Math.ceil(slots.length / together) }, (_, index) =>
    slots.slice(index * together, (index + 1) * together),
  );
  const played: { slots: [Slot, PlayedInvocation][]; machine: PlayedRound[] } = { slots: [], machine: [] };
  for (const [index, group] of groups.entries()) {
    const nowMs = performance.now();
    const own = await playTogether(options, group, passes, nowMs + (endMs - nowMs) / (groups.length - index));
    played.slots.push(...own.slots);
    played.machine.push(...own.machine.map((state, round) => ({ invocation, round, ...state })));
  }
  // Rounds are compared in pairs.
  const fewest = Math.min(...played.slots.map(([, { rounds }]) => rounds.length));
  const trimmed = played.slots.map(([slot, { first, rounds }]): [Slot, PlayedInvocation] => {
    return [slot, { first, rounds: rounds.slice(0, fewest) }];
  });
  return { ...played, slots: trimmed };
}

/** Plays arms whose processes are alive at the same time, with fewer rounds if they would not end by `endMs`. */
async function playTogether(options: PlayOptions, slots: readonly Slot[], passes: number, endMs: number) {
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
    // This pass warms up the code and is not counted.
    for (const { play } of alive) if (performance.now() < endMs) await play(passes);
    const look = watchMachine();
    const machine: MachineState[] = [];
    for (let tookMs = 0; machine.length < design.rounds; ) {
      const beganMs = performance.now();
      if (machine.length > 0 && beganMs + tookMs > endMs) break;
      for (const arm of random.shuffle(alive)) arm.rounds.push(await arm.play(passes));
      machine.push(look());
      tookMs = performance.now() - beganMs;
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
