import type { StackTraits } from '../contract/stack.ts';

/**
 * Traits of MCP: a call has a result, which holds the replies; with `stream` the server first reports that it
 * has begun.
 */
const traits: Omit<StackTraits, 'hasTls'> = {
  replies: 'same exchange',
  oneWay: 'acknowledged',
  later: ['hold', 'stream'],
  largestMessageBytes: null,
};

export const mcpHttpTraits: StackTraits = { ...traits, hasTls: true };
