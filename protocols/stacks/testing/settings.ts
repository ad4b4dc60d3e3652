import type { StackSettings } from '../contract/stack.ts';

/** Settings for most tests, with everything off. */
export const testSettings: StackSettings = {
  tls: null,
  connections: 1,
  keepAliveMs: 5_000,
  deadlineMs: 10_000,
};
