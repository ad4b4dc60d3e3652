import path from 'node:path';
import { Random } from '../../../../core/system/random.ts';
import { armsOf } from '../arms.ts';
import { measureStacks } from '../compare-stacks.ts';
import { parseFactors } from '../factors.ts';
import { figuresOf } from '../figures/arm-figures.ts';
import { attributionsOf, attributionText } from '../figures/stack-attribution.ts';
import type { PlannedExchange } from '../peers/protocol.ts';
import { syntheticWorkload } from '../workload.ts';
import type { Design } from './planted.ts';

const FILE = path.join(import.meta.dirname, 'planted.ts');
/** Equal within so much, as `compare` has it. */
const MARGIN = 0.05;
/** Different exchanges: a pass through them, in which bytes are counted, takes no longer than it has to. */
const EXCHANGES = 5;
/** Exchanges a second of the open load: few enough for a pair that waits 40 ms for an acknowledgement. */
const RATE_PER_S = 400;

interface Play {
  readonly seed: number;
  /** Milliseconds that each is measured for. */
  readonly measuredMs: number;
  readonly onNote?: (note: string) => void;
  readonly signal: AbortSignal;
}

export interface PlayedDesign {
  /** Factors that contribute, by any figure, to what the arm in which all of them are others takes more or less than the baseline. */
  readonly blamed: readonly string[];
  /** Its attributions, as the comparison prints them. */
  readonly texts: readonly string[];
}

/** Compares the stacks of a design as `compare --stacks` does, each end of each arm in fresh processes, and says whom its attributions blame. */
export async function playDesign(design: Design, play: Play): Promise<PlayedDesign> {
  const { seed, measuredMs, onNote = () => undefined, signal } = play;
  const chosen = design.stacks.map((stack) => ({ stack, file: FILE }));
  const { arms: free } = armsOf(chosen, parseFactors(design.settings));
  const arms = free.map((arm) => ({ ...arm, settings: { ...arm.settings, workMs: design.workMs } }));
  const [baseline, ...others] = arms;
  if (baseline === undefined) throw new Error('a design has arms');
  const exchanges = exchangesOf(design, seed);
  const concurrency = [design.concurrency];
  const measured = await measureStacks({
    arms: [baseline, ...others],
    exchangesOf: () => exchanges,
    identity: null,
    concurrency,
    ratePerS: RATE_PER_S,
    budgetMs: Infinity,
    invocations: design.invocations,
    rounds: 3,
    measuredMs,
    hasExtras: false,
    random: new Random(seed),
    onProgress: () => undefined,
    onNote,
    signal,
  });
  const figures = arms.flatMap((arm) => {
    const own = measured.invocations.get(arm.name) ?? [];
    return own.length === 0 ? [] : [figuresOf(arm, exchanges, own, concurrency)];
  });
  const attributions = attributionsOf(figures, MARGIN).filter(({ arm }) => arm === arms.at(-1)?.name);
  const shares = attributions.flatMap((attribution) => attribution.shares);
  const blamed = shares.filter(({ verdict }) => verdict === 'contributes').map(({ factor }) => factor);
  return { blamed: [...new Set(blamed)].toSorted(), texts: attributions.map(attributionText) };
}

function exchangesOf({ sizes: [asked, answered] }: Design, seed: number): PlannedExchange[] {
  const answers = syntheticWorkload(answered, seed).exchanges;
  const questions = syntheticWorkload(asked, seed).exchanges.slice(0, EXCHANGES);
  return questions.map(({ request, replies }, index) => ({
    request,
    replies: answers[index]?.replies ?? replies,
  }));
}
