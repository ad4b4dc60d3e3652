import { extractAnswers, withClaims, withText } from '@gaia-mesh/core/contracts/claims.ts';
import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import type { Branch, BranchFile } from '@gaia-mesh/core/recording/branch-file.ts';
import type { Question } from '../questions/question.ts';
import type { Replacement } from './judge.ts';
import type { Message, RecordedQuestion } from './recorded-question.ts';

/**
 * Branches of one kind: messages before the one at `keep` are as recorded, and that one says what it said or something else. `fresh` is
 * `kept` once more, for tries that were not there when a suspect was found.
 */
export interface Arm extends Branch {
  readonly taskId: string;
  readonly says: 'kept' | 'fresh' | Replacement;
}

/** Makes the replacement of a message; undefined if this kind cannot be made from it. */
type Replacer = (message: Message) => JsonObject | undefined;

/**
 * Lists all possible branches. The last message is only kept: it is the answer itself, so replacing it would replace the answer.
 */
export function listArms(
  { messages }: Pick<RecordedQuestion, 'messages'>,
  replacers: Readonly<Partial<Record<Replacement, Replacer>>>,
): Arm[] {
  const kept = [0, ...messages.map(({ place }) => place)].flatMap((keep): Arm[] => [
    createArm(keep, 'kept'),
    createArm(keep, 'fresh'),
  ]);
  const replaced = messages.slice(0, -1).flatMap((message) =>
    Object.entries(replacers).flatMap(([says, replacer]): Arm[] => {
      const instead = replacer(message);
      return instead === undefined ? [] : [{ ...createArm(message.place, says as Replacement), instead }];
    }),
  );
  return [...kept, ...replaced];
}

function createArm(keep: number, says: Arm['says']): Arm {
  return { taskId: `branch-${keep}-${says}`, keep, says };
}

/** Creates the functions that replace messages of a question. */
export function createReplacers(
  question: Pick<Question, 'question' | 'truths'>,
  answer: string,
  { others }: Pick<RecordedQuestion, 'others'>,
): Record<Replacement, Replacer> {
  const [truth] = question.truths;
  return {
    truth: ({ payload }) => (truth === undefined ? undefined : withTruth(payload, answer, truth)),
    other: ({ from, to, type, tag, payload }) => {
      const same = others.filter((other) => other.type === type && other.from === from && other.tag === tag);
      const other = same.find((candidate) => candidate.to === to) ?? same[0];
      return other === undefined ? undefined : keepChange(payload, other.payload);
    },
    neutral: ({ payload }) =>
      keepChange(
        payload,
        withClaims(payload, question.question, () => 'unknown'),
      ),
  };
}

/** Puts the true answer wherever the payload states the given answer or one of its own. */
function withTruth(payload: JsonObject, answer: string, truth: string): JsonObject | undefined {
  // Replace longer answers first: a short one may be part of them.
  const stated = [...new Set([answer, ...extractAnswers(payload)])].sort(
    (one, other) => other.length - one.length,
  );
  const isOther = (text: string) => text !== '' && !text.toLowerCase().includes(truth.toLowerCase());
  return keepChange(
    payload,
    stated.filter(isOther).reduce((so, text) => withText(so, text, truth), payload),
  );
}

function keepChange(from: JsonObject, to: JsonObject): JsonObject | undefined {
  return JSON.stringify(from) === JSON.stringify(to) ? undefined : to;
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
