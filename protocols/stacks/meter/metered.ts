import type { Packet } from '@gaia-mesh/core/contracts/packet.ts';
import type { Inbox, Stack, StackClient, StackServer, StackSettings } from '../contract/stack.ts';
import { watchWires } from './watch-wires.ts';
import { WireMeter } from './wire-meter.ts';

/** A stack without counting. It reports to the meter only its own pipes and messages that do not travel over HTTP. */
interface UnmeteredStack extends Omit<Stack, 'serve' | 'connect'> {
  /** Resolves with a `wire` of its own where bytes are counted in other processes. */
  serve(
    inbox: Inbox,
    settings: StackSettings,
    meter: WireMeter,
  ): Promise<Omit<StackServer, 'wire'> & Partial<Pick<StackServer, 'wire'>>>;
  connect(address: string, settings: StackSettings, meter: WireMeter): Promise<Omit<StackClient, 'wire'>>;
}

/**
 * Returns `stack` with its bytes counted: every socket that a call of a server or client opens or accepts,
 * even later, belongs to that server or client. Sockets of the inbox belong to the caller again.
 */
export function meterStack(stack: UnmeteredStack): Stack {
  return {
    ...stack,
    async serve(inbox, settings) {
      watchWires();
      const meter = new WireMeter();
      const exited = (packet: Packet, signal: AbortSignal) => WireMeter.exit(() => inbox(packet, signal));
      const own: Inbox = Object.assign(exited, { source: inbox.source });
      const server = await meter.run(() => stack.serve(own, settings, meter));
      return {
        address: server.address,
        port: server.port,
        wire: () => server.wire?.() ?? meter.bytes,
        ask: server.ask,
        close: () => meter.run(() => server.close()),
      };
    },
    async connect(address, settings) {
      watchWires();
      const meter = new WireMeter();
      const client = await meter.run(() => stack.connect(address, settings, meter));
      return {
        // Any exchange may open connections.
        exchange: (...args) => meter.run(() => client.exchange(...args)),
        wire: () => meter.bytes,
        close: () => meter.run(() => client.close()),
      };
    },
  };
}
