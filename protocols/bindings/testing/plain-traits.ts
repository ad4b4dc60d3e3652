import type { BindingTraits } from '../contract/binding.ts';

/** Of a test's own binding: an answer comes in the exchange that asked for it, and nothing is encrypted. */
export const plainTraits: BindingTraits = {
  replies: 'same exchange',
  oneWay: 'acknowledged',
  later: ['hold'],
  hasTls: false,
  largestMessageBytes: null,
};
