import type { Packet } from '../../../../core/contracts/packet.ts';
import type { Binding, BindingClient, Inbox } from '../../../../protocols/bindings/contract/binding.ts';
import { framedBinding, framedTcp } from './framed-tcp.ts';

/** Defects as people have them in real stacks, each in a binding that is otherwise `framed/tcp`: to see whether a comparison names them. */

/** One connection that all callers share, each waiting for the one before. */
export const plantedPool: Binding = {
  ...framedTcp,
  name: 'planted/pool',
  async connect(address, settings) {
    return oneAtATime(await framedTcp.connect(address, settings));
  },
};

/** Length and message are two writes, and Nagle's algorithm holds the second until the first is acknowledged, which takes its time. */
export const plantedNagle: Binding = framedBinding('planted/nagle', { isSplit: true });

/** The server copies all that it has heard for each message, as a store of tasks that hands out copies does. */
export const plantedHistory: Binding = withInbox('planted/history', (inbox) => {
  const history: Packet[] = [];
  return (packet, signal) => {
    if (history.length < MAX_HISTORY) history.push(packet);
    structuredClone(history);
    return inbox(packet, signal);
  };
});

/** The server parses each message a second time. */
export const plantedParser: Binding = withInbox('planted/parser', (inbox) => (packet, signal) => {
  const again: Packet = JSON.parse(JSON.stringify(packet));
  return inbox(again, signal);
});

const MAX_HISTORY = 200;

function withInbox(name: string, planted: (inbox: Inbox) => Inbox): Binding {
  return { ...framedTcp, name, serve: (inbox, settings) => framedTcp.serve(planted(inbox), settings) };
}

function oneAtATime(client: BindingClient): BindingClient {
  let before: Promise<unknown> = Promise.resolve();
  return {
    ...client,
    exchange(packet, signal, answers) {
      const own = before.then(() => client.exchange(packet, signal, answers));
      before = own.catch(() => undefined);
      return own;
    },
  };
}
