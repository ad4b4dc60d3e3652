import { extractAnswers, withText } from '@gaia-mesh/core/agent/lies.ts';
import { BLAME_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import type { BranchFile } from '@gaia-mesh/core/recording/branch-file.ts';
import { type Attempt, getUse } from '../attempts/attempt.ts';
import { toAttemptId } from '../questions/question.ts';
import type { BlamePlan } from './blame-plan.ts';

/**
 * Branches of one kind: messages before the one at `keep` are as recorded, and that one says what it said or something else. `fresh` is
 * `kept` once more, for tries that were not there when a suspect was found.
 */
export interface Arm extends Readonly<BranchFile['tasks'][string]> {
  readonly taskId: string;
  readonly says: 'kept' | 'fresh' | 'truth';
}

/** The facts of a plan from which all possible branches follow. */
interface Examined {
  readonly question: Pick<BlamePlan['question'], 'truths'>;
  readonly recorded: BlamePlan['recorded'];
  readonly answer: Pick<BlamePlan['answer'], 'text'>;
}

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
  readonly #recorded: BlamePlan['recorded'];
  readonly #counts = new Map<string, number>();
  readonly #readAttempts: (taskId: string) => readonly Attempt[];
  readonly #replies: readonly { readonly tokens: number; readonly leadsTo: number }[];

  /** @param readAttempts returns the finished attempts of an arm */
  constructor(plan: Examined, readAttempts: (taskId: string) => readonly Attempt[]) {
    this.arms = listArms(plan);
    this.#recorded = plan.recorded;
    this.#readAttempts = readAttempts;
    this.#replies = Object.values(plan.recorded.replies)
      .flat()
      .map(({ prompt_tokens, completion_tokens, leads_to }) => ({
        // If no server says how many tokens its replies have, their number is as good.
        tokens: (prompt_tokens ?? 0) + (completion_tokens ?? 0) || 1,
        leadsTo: leads_to ?? Number.POSITIVE_INFINITY,
      }));
    this.ownTokens = this.#replies.reduce((sum, { tokens }) => sum + tokens, 0);
  }

  /** Builds the file from which agents learn the branches of all possible tries. */
  buildBranchFile(): BranchFile {
    const { messages, replies } = this.#recorded;
    return {
      branches: 1,
      packets: messages.map(({ place: _place, id: _id, ...packet }) => packet),
      replies,
      tasks: Object.fromEntries(
        this.arms.flatMap((arm) =>
          Array.from({ length: countMost(arm) }, (_, index) => [
            toAttemptId(arm.taskId, index + 1),
            { keep: arm.keep, instead: arm.instead },
          ]),
        ),
      ),
    };
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
    const bound = Math.min(wanted, ...arms.map(countMost));
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

/** Returns the maximum tries of an arm. */
function countMost({ says }: Arm): number {
  return says === 'fresh' ? BLAME_LIMITS.freshTries : BLAME_LIMITS.clearTries;
}

/** Lists all possible branches. The last message is only kept: it is the answer itself, so replacing it would replace the answer. */
function listArms({ question, recorded: { messages }, answer }: Examined): Arm[] {
  const [truth] = question.truths;
  const kept = [0, ...messages.map(({ place }) => place)].flatMap((keep): Arm[] => [
    createArm(keep, 'kept'),
    createArm(keep, 'fresh'),
  ]);
  const mended = messages.slice(0, -1).flatMap(({ place, payload }): Arm[] => {
    const instead = truth === undefined ? undefined : withTruth(payload, answer.text, truth);
    return instead === undefined ? [] : [{ ...createArm(place, 'truth'), instead }];
  });
  return [...kept, ...mended];
}

function createArm(keep: number, says: Arm['says']): Arm {
  return { taskId: `branch-${keep}-${says}`, keep, says };
}

/** Puts the true answer wherever the payload states the given answer or one of its own; returns undefined if that changes nothing. */
function withTruth(payload: JsonObject, answer: string, truth: string): JsonObject | undefined {
  // Replace longer answers first: a short one may be part of them.
  const stated = [...new Set([answer, ...extractAnswers(payload)])].sort(
    (one, other) => other.length - one.length,
  );
  const isOther = (text: string) => text !== '' && !text.toLowerCase().includes(truth.toLowerCase());
  const mended = stated.filter(isOther).reduce((so, text) => withText(so, text, truth), payload);
  return JSON.stringify(payload) === JSON.stringify(mended) ? undefined : mended;
}
