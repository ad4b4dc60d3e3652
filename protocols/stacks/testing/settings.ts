import type { StackSettings } from '../contract/stack.ts';

/** Settings for most tests, with everything off. */
export const testSettings: StackSettings = {
  tls: null,
  connections: 1,
  keepAliveMs: 5_000,
  noDelay: true,
  later: 'hold',
  pollMs: 10,
  history: false,
  results: 'structured',
  deadlineMs: 10_000,
};
