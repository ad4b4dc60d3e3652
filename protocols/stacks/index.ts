/** The public names of the stacks: what a protocol on a transport of your own is written against. */
export type {
  Inbox,
  Stack,
  StackClient,
  StackServer,
  StackSettings,
  WireBytes,
} from './contract/stack.ts';
export { meterStack } from './meter/metered.ts';
export { callStack } from './plain/call-stack.ts';
export { createStreamStack } from './plain/stream-stack.ts';
