import type { StackTraits } from '../contract/stack.ts';

/** Traits of a test's own stack: an answer comes in the exchange that asked for it, and nothing is encrypted. */
export const plainTraits: StackTraits = {
  oneWay: 'acknowledged',
  hasTls: false,
  largestMessageBytes: null,
};
