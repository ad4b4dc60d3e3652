/** The public names of the package, for stacks of your own. */
export type { Inbox, Stack, StackClient, StackServer, StackSettings } from './contract/stack.ts';
export type { WireBytes } from './contract/wire-sum.ts';
export { meterStack } from './meter/metered.ts';
export { callStack } from './plain/call-stack.ts';
export { createStreamStack } from './plain/stream-stack.ts';
