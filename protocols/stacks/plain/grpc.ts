import { MAX_FRAME_BYTES } from '@gaia-mesh/core/contracts/limits.ts';
import {
  ChannelCredentials,
  Server,
  ServerCredentials,
  type ServiceDefinition,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import type { StackSettings } from '../contract/stack.ts';

/** Options of servers and channels of `@grpc/grpc-js`, which by itself takes messages of at most 4 MiB. */
export const GRPC_OPTIONS = { 'grpc.max_receive_message_length': MAX_FRAME_BYTES };

/** Serves a service on a free port of the loopback. */
export async function serveGrpc(
  service: ServiceDefinition,
  implementation: UntypedServiceImplementation,
  { tls }: Pick<StackSettings, 'tls'>,
): Promise<{ readonly port: number; close(): void }> {
  const server = new Server(GRPC_OPTIONS);
  server.addService(service, implementation);
  const credentials =
    tls === null
      ? ServerCredentials.createInsecure()
      : ServerCredentials.createSsl(null, [
          { private_key: Buffer.from(tls.key), cert_chain: Buffer.from(tls.cert) },
        ]);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', credentials, (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  return { port, close: () => server.forceShutdown() };
}

/** Creates a client's credentials, which trust the session's certificate alone. */
export function createGrpcCredentials({ tls }: Pick<StackSettings, 'tls'>): ChannelCredentials {
  return tls === null
    ? ChannelCredentials.createInsecure()
    : ChannelCredentials.createSsl(Buffer.from(tls.cert));
}
