import { createHash } from 'node:crypto';
import type { ChatRequest } from '@gaia-mesh/core/contracts/engine.ts';
import { hashRequest } from '@gaia-mesh/core/contracts/model-exchange.ts';
import { Random } from '@gaia-mesh/core/system/random.ts';
import { cleanAnswer } from '../../answers/clean-answer.ts';
import type { Candidate } from './candidates.ts';

/** Factor for the chance of an answer that was rejected before. */
const DOUBTED_SHARE = 0.1;
/** Requests whose draws are counted; then counting begins anew. A batch asks one agent less often. */
const MAX_COUNTED = 50_000;

/** Draws replies: the same seed, role and request give the same sequence of draws. */
export class Draws {
  readonly #seed: number;
  readonly #times = new Map<string, number>();

  constructor(seed: number) {
    this.#seed = seed;
  }

  /** Returns random numbers for the next reply to a request. */
  next(request: ChatRequest, role: string): Random {
    const key = hashRequest({ messages: request.messages, tools: request.tools ?? [], schema: undefined });
    if (this.#times.size >= MAX_COUNTED) this.#times.clear();
    const times = this.#times.get(key) ?? 0;
    this.#times.set(key, times + 1);
    const digest = createHash('sha256')
      .update(JSON.stringify([this.#seed, role, key, times]))
      .digest();
    return new Random(digest.readUIntBE(0, 6));
  }
}

/** Lowers rejected answers, and drops those that are then too improbable. Most probable first. */
export function withDoubts(
  candidates: readonly Candidate[],
  doubted: ReadonlySet<string>,
  threshold: number,
): Candidate[] {
  if (doubted.size === 0) return [...candidates];
  const isDoubted = ({ answer }: Candidate) => doubted.has(cleanAnswer(answer) ?? answer);
  return candidates
    .map((one) => (isDoubted(one) ? { ...one, chance: one.chance * DOUBTED_SHARE } : one))
    .filter((one) => !isDoubted(one) || one.chance >= threshold)
    .sort((a, b) => b.chance - a.chance);
}

/** Draws a candidate by the softmax of their scores over the temperature; at 0 the most probable. */
export function drawCandidate(
  candidates: readonly Candidate[],
  temperature: number,
  random: Random,
): Candidate | undefined {
  const [best] = candidates;
  if (best === undefined || temperature === 0) return best;
  const weights = candidates.map(({ chance }) => (chance / best.chance) ** (1 / temperature));
  let left = random.uniform() * weights.reduce((sum, weight) => sum + weight, 0);
  for (const [at, weight] of weights.entries()) {
    left -= weight;
    if (left < 0) return candidates[at];
  }
  return best;
}
