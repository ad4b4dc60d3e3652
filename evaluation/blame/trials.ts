import { BLAME_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import { type Attempt, getUse } from '../attempts/attempt.ts';
import type { Arm } from './arms.ts';
import type { RecordedQuestion } from './recorded-question.ts';

/** The part of the bound that is left for attempts that cost more than they were expected to. */
const RESERVE = 0.1;

/**
 * The tries of all arms of one question, and what they cost. Tries are counted here rather than in the journal, so that a resumed analysis
 * decides as it would have without the interruption.
 */
export class Trials {
  readonly arms: readonly Arm[];
  /** Tokens that the recorded question took; 0 if no model's server was asked. */
  readonly ownTokens: number;
  readonly #counts = new Map<string, number>();
  readonly #readAttempts: (taskId: string) => readonly Attempt[];
  readonly #replies: readonly { readonly tokens: number; readonly leadsTo: number }[];

  constructor(
    { replies }: Pick<RecordedQuestion, 'replies'>,
    arms: readonly Arm[],
    readAttempts: (taskId: string) => readonly Attempt[],
  ) {
    this.arms = arms;
    this.#readAttempts = readAttempts;
    this.#replies = Object.values(replies)
      .flat()
      .map(({ prompt_tokens, completion_tokens, leads_to }) => ({
        // If no server says how many tokens its replies have, their number is as good.
        tokens: (prompt_tokens ?? 0) + (completion_tokens ?? 0) || 1,
        leadsTo: leads_to ?? Number.POSITIVE_INFINITY,
      }));
    this.ownTokens = this.#replies.reduce((sum, { tokens }) => sum + tokens, 0);
  }

  /** Returns the maximum tries of an arm. */
  static countMost({ says }: Pick<Arm, 'says'>): number {
    return says === 'fresh' ? BLAME_LIMITS.freshTries : BLAME_LIMITS.clearTries;
  }

  find(keep: number, says: Arm['says']): Arm | undefined {
    return this.arms.find((arm) => arm.keep === keep && arm.says === says);
  }

  count(arm: Arm): number {
    return this.#counts.get(arm.taskId) ?? 0;
  }

  setCount(arm: Arm, tries: number): void {
    this.#counts.set(arm.taskId, tries);
  }

  /** Returns the finished tries of an arm. */
  read(arm: Arm | undefined): readonly Attempt[] {
    if (arm === undefined) return [];
    return this.#readAttempts(arm.taskId).filter(({ cycle }) => cycle <= this.count(arm));
  }

  /**
   * Returns the number of tries, at most `wanted`, that each of the arms can have in all while all tries together stay below `share` of the
   * bound ({@link BLAME_LIMITS}); 0 if they can have none.
   */
  fit(arms: readonly Arm[], wanted: number, share: number): number {
    const bound = Math.min(wanted, ...arms.map(Trials.countMost));
    if (this.ownTokens === 0) return bound;
    const { expected, spent } = this.#sumCosts();
    // A live team may take more turns than the recorded one took.
    const ratio = expected === 0 ? 1 : Math.max(1, spent / expected);
    const most = share * (1 - RESERVE) * BLAME_LIMITS.cost * this.ownTokens;
    for (let tries = bound; tries > 0; tries--) {
      const cost = arms.reduce(
        (sum, arm) => sum + Math.max(0, tries - this.count(arm)) * this.#expectTokens(arm),
        0,
      );
      if (spent + ratio * cost <= most) return tries;
    }
    return 0;
  }

  /** Returns the tokens that one branch is expected to take: those of the recorded replies that are asked for again. */
  #expectTokens({ keep }: Arm): number {
    return this.#replies.reduce((sum, { tokens, leadsTo }) => sum + (leadsTo > keep ? tokens : 0), 0);
  }

  #sumCosts(): { readonly expected: number; readonly spent: number } {
    let [expected, spent] = [0, 0];
    for (const arm of this.arms) {
      const each = this.#expectTokens(arm);
      for (const attempt of this.read(arm)) {
        expected += each;
        spent += getUse(attempt).tokens ?? each;
      }
    }
    return { expected, spent };
  }
}
