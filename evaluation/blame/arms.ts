import { extractAnswers, withText } from '@gaia-mesh/core/contracts/claims.ts';
import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import type { BranchFile } from '@gaia-mesh/core/recording/branch-file.ts';
import type { Message, RecordedQuestion } from './recorded-question.ts';

type Branch = BranchFile['tasks'][string];

/**
 * Branches of one kind: messages before the one at `keep` are as recorded, and that one says what it said or something else. `fresh` is
 * `kept` once more, for tries that were not there when a suspect was found.
 */
export interface Arm extends Branch {
  readonly taskId: string;
  readonly says: 'kept' | 'fresh' | 'truth';
}

/**
 * Lists all possible branches. The last message is only kept: it is the answer itself, so replacing it would replace the answer.
 *
 * @param mend puts the truth in the place of a message; returns undefined where it cannot
 */
export function listArms(
  { messages }: Pick<RecordedQuestion, 'messages'>,
  mend: (message: Message) => JsonObject | undefined,
): Arm[] {
  const kept = [0, ...messages.map(({ place }) => place)].flatMap((keep): Arm[] => [
    createArm(keep, 'kept'),
    createArm(keep, 'fresh'),
  ]);
  const mended = messages.slice(0, -1).flatMap((message): Arm[] => {
    const instead = mend(message);
    return instead === undefined ? [] : [{ ...createArm(message.place, 'truth'), instead }];
  });
  return [...kept, ...mended];
}

function createArm(keep: number, says: Arm['says']): Arm {
  return { taskId: `branch-${keep}-${says}`, keep, says };
}

/** Puts the true answer wherever the payload states the given answer or one of its own; returns undefined if that changes nothing. */
export function withTruth(payload: JsonObject, answer: string, truth: string): JsonObject | undefined {
  // Replace longer answers first: a short one may be part of them.
  const stated = [...new Set([answer, ...extractAnswers(payload)])].sort(
    (one, other) => other.length - one.length,
  );
  const isOther = (text: string) => text !== '' && !text.toLowerCase().includes(truth.toLowerCase());
  const mended = stated.filter(isOther).reduce((so, text) => withText(so, text, truth), payload);
  return JSON.stringify(payload) === JSON.stringify(mended) ? undefined : mended;
}

/** Builds the file from which agents learn their branches. */
export function buildBranchFile(
  { messages, replies }: RecordedQuestion,
  arms: readonly Arm[],
  ids: (arm: Arm) => readonly string[],
): BranchFile {
  return {
    branches: 1,
    packets: messages.map(({ place: _place, id: _id, ...packet }) => packet),
    replies: Object.fromEntries(Object.entries(replies).map(([agent, all]) => [agent, [...all]])),
    tasks: Object.fromEntries(
      arms.flatMap((arm) => ids(arm).map((id) => [id, { keep: arm.keep, instead: arm.instead }])),
    ),
  };
}
