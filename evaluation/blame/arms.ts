import { extractAnswers, withClaims, withText } from '@gaia-mesh/core/contracts/claims.ts';
import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import type { Branch, BranchFile } from '@gaia-mesh/core/recording/branch-file.ts';
import type { Question } from '../questions/question.ts';
import type { Replacement } from './judge.ts';
import type { Message, RecordedQuestion } from './recorded-question.ts';

/** Branches of one kind: up to the message at `place` all is as recorded; it says what it said, or something else. */
export interface Arm extends Branch {
  readonly taskId: string;
  readonly says: 'kept' | Replacement;
}

/** What a message says instead; undefined where nothing of the kind can be made of it. */
type Replacer = (message: Message) => JsonObject | undefined;

/** Every branch that there can be. The last message is the answer itself: whatever it said would be the answer, so it is only kept. */
export function listArms(
  { messages }: Pick<RecordedQuestion, 'messages'>,
  replacers: Readonly<Partial<Record<Replacement, Replacer>>>,
): Arm[] {
  const kept = [0, ...messages.map(({ place }) => place)].map((keep): Arm => createArm(keep, 'kept'));
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

/** How messages of a question can be replaced. */
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

/** The true answer wherever the payload states the one that was given, or one of its own. */
function withTruth(payload: JsonObject, answer: string, truth: string): JsonObject | undefined {
  // The longest first: a short one may be part of it.
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

/** What agents are told of the arms, each tried `tries` times. */
export function buildBranchFile(
  { messages, replies }: RecordedQuestion,
  arms: readonly Arm[],
  ids: (taskId: string) => readonly string[],
): BranchFile {
  return {
    branches: 1,
    packets: messages.map(({ place: _place, id: _id, ...packet }) => packet),
    replies: Object.fromEntries(Object.entries(replies).map(([agent, all]) => [agent, [...all]])),
    tasks: Object.fromEntries(
      arms.flatMap(({ taskId, keep, instead }) =>
        ids(taskId).map((id) => [id, { keep, ...(instead === undefined ? {} : { instead }) }]),
      ),
    ),
  };
}
