import type { Packet } from '../../../core/contracts/packet.ts';
import type { Binding, BindingClient, BindingServer, BindingSettings, Inbox } from '../contract/binding.ts';
import { watchWires } from './watch-wires.ts';
import { WireMeter } from './wire-meter.ts';

/** A binding without counting. What it says to the meter is only what no HTTP carries, and what goes over pipes of its own. */
export interface UnmeteredBinding extends Omit<Binding, 'serve' | 'connect'> {
  /** Resolves with a `wire` of its own where bytes are counted in other processes. */
  serve(
    inbox: Inbox,
    settings: BindingSettings,
    meter: WireMeter,
  ): Promise<Omit<BindingServer, 'wire'> & Partial<Pick<BindingServer, 'wire'>>>;
  connect(address: string, settings: BindingSettings, meter: WireMeter): Promise<Omit<BindingClient, 'wire'>>;
}

/**
 * `binding` with its bytes counted: every socket that a call of its own opens or accepts, and what comes of that later, is that
 * server's or client's. What the inbox does is the caller's again.
 */
export function metered(binding: UnmeteredBinding): Binding {
  return {
    ...binding,
    async serve(inbox, settings) {
      watchWires();
      const meter = new WireMeter();
      const exited = (packet: Packet, signal: AbortSignal) => WireMeter.exit(() => inbox(packet, signal));
      const own: Inbox = Object.assign(exited, { source: inbox.source });
      const server = await meter.run(() => binding.serve(own, settings, meter));
      return {
        address: server.address,
        port: server.port,
        processes: server.processes,
        wire: () => server.wire?.() ?? meter.bytes,
        ask: server.ask,
        close: () => meter.run(() => server.close()),
      };
    },
    async connect(address, settings) {
      watchWires();
      const meter = new WireMeter();
      const client = await meter.run(() => binding.connect(address, settings, meter));
      return {
        // Connections may be opened by any exchange.
        exchange: (...args) => meter.run(() => client.exchange(...args)),
        port: client.port,
        wire: () => meter.bytes,
        close: () => meter.run(() => client.close()),
      };
    },
  };
}
