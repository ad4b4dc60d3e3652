import type { WireBytes } from './binding.ts';

const none = { raw: 0, tls: 0, head: 0, body: 0, messages: 0 };
export const noWire = (): WireBytes => ({ connections: 0, sent: none, received: none });
