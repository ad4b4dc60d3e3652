import type { StackTraits } from '../contract/stack.ts';

/** Every message is answered by a task, so a sender always knows that it arrived; a reply is an artifact of that task. */
export const a2aTraits: StackTraits = {
  replies: 'same exchange',
  oneWay: 'acknowledged',
  later: ['hold', 'stream', 'subscribe', 'poll', 'push'],
  hasTls: true,
  largestMessageBytes: null,
};
