import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { loadAdapter } from '@gaia-mesh/protocols/registry.ts';
import type { Stack } from '../contract/stack.ts';
import { createFramedTransport, type EndpointKind } from './framed-transport.ts';
import { createStreamStack } from './stream-stack.ts';

const ports: EndpointKind = {
  free: () => ({ port: 0 }),
  formatAddress: (endpoint) => ('port' in endpoint ? `tcp://127.0.0.1:${endpoint.port}` : ''),
  parseAddress(address) {
    const port = /^tcp:\/\/127\.0\.0\.1:(\d+)$/.exec(address)?.[1];
    if (port === undefined)
      throw new MeshError('usage', `expected tcp://127.0.0.1:PORT, received ${address}`);
    return { port: Number(port) };
  },
};

/**
 * Creates a stack of the mesh's own frames over TCP, as a connection between two nodes without a hub, for any
 * adapter, with layers or without. The mesh's handshake is not part of it.
 *
 * @param spec as `--adapter` takes it: `msgpack+zstd`
 */
export async function makeMeshStack(spec: string): Promise<Stack> {
  const adapter = await loadAdapter(spec);
  const name = `mesh/${adapter.name}`;
  return createStreamStack({
    name,
    adapter,
    transport: 'tcp',
    implementation: 'bare',
    ...createFramedTransport(name, ports),
  });
}
