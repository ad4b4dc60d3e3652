import type { StackTraits } from '../contract/stack.ts';

/** A call has a result, in which replies ride; `stream` has the server say before it that it has begun. */
const traits: Omit<StackTraits, 'hasTls'> = {
  replies: 'same exchange',
  oneWay: 'acknowledged',
  later: ['hold', 'stream'],
  largestMessageBytes: null,
};

export const mcpHttpTraits: StackTraits = { ...traits, hasTls: true };
export const mcpStdioTraits: StackTraits = { ...traits, hasTls: false };
