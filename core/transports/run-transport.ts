import { tcpDialler } from './tcp/tcp-transport.ts';
import type { RunTransport, RunTransportOptions } from './transport.ts';

/** @throws MeshError `usage`; `io` when there is no server */
export async function openTransport(options: RunTransportOptions): Promise<RunTransport> {
  if (options.team.transport === 'tcp') {
    if (options.network == null) return tcpTransport;
    // Without a network nothing of it is loaded.
    const { NetworkProcess } = await import('./network/network-process.ts');
    const network = new NetworkProcess(options.network);
    return { ...tcpTransport, dialler: network.dialler, close: () => network.stop() };
  }
  // A run over TCP loads nothing of NATS.
  const { openNatsTransport } = await import('./nats/nats-transport.ts');
  return openNatsTransport(options);
}

/** TCP transport, which needs no server and has nothing to close. */
export const tcpTransport: RunTransport = {
  dialler: tcpDialler,
  placeOf: (_id, port) => ({ port }),
  environment: {},
  carried: () => undefined,
  close: async () => undefined,
};
