import type { BindingTraits } from '../contract/binding.ts';

/** A call has a result, in which replies ride; `stream` has the server say before it that it has begun. */
const traits: Omit<BindingTraits, 'hasTls'> = {
  replies: 'same exchange',
  oneWay: 'acknowledged',
  later: ['hold', 'stream'],
  largestMessageBytes: null,
};

export const mcpHttpTraits: BindingTraits = { ...traits, hasTls: true };
export const mcpStdioTraits: BindingTraits = { ...traits, hasTls: false };
