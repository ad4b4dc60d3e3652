import type { Packet } from '@gaia-mesh/core/contracts/packet.ts';
import type { Inbox, Stack } from '@gaia-mesh/stacks/contract/stack.ts';
import { framedTcp } from './framed-tcp.ts';

const MAX_HISTORY = 200;

/** Copies all received packets for each message, as a task store that returns copies does. */
function keepHistory(inbox: Inbox): Inbox {
  const history: Packet[] = [];
  return (packet, signal) => {
    if (history.length < MAX_HISTORY) history.push(packet);
    structuredClone(history);
    return inbox(packet, signal);
  };
}

const json: Stack = { ...framedTcp, name: 'history/json' };
const a2a: Stack = {
  ...framedTcp,
  name: 'history/a2a',
  protocol: 'a2a',
  serve: (inbox, settings) => framedTcp.serve(keepHistory(inbox), settings),
};

/**
 * Four stacks that do the same work, except for a defect in one of the two protocols. The processes of a comparison find them here when
 * they load this file by its name.
 */
export const stacks: readonly [Stack, ...Stack[]] = [
  json,
  { ...json, implementation: 'sdk' },
  a2a,
  { ...a2a, implementation: 'sdk' },
];
