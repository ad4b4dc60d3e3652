import { createTcpDialler } from './tcp/tcp-transport.ts';
import type { RunTransport, RunTransportOptions } from './transport.ts';

/** @throws MeshError `usage`; `io` when there is no server */
export async function openTransport(options: RunTransportOptions): Promise<RunTransport> {
  if (options.team.transport === 'tcp') return tcpTransport;
  // A run over TCP loads nothing of NATS.
  const { openNatsTransport } = await import('./nats/nats-transport.ts');
  return openNatsTransport(options);
}

/** TCP transport, which needs no server and has nothing to close. */
export const tcpTransport: RunTransport = {
  dialler: createTcpDialler(),
  placeOf: (_id, port) => ({ port }),
  environment: {},
  carried: () => undefined,
  close: async () => undefined,
};
