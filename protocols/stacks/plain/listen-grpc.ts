import type { Server, ServerCredentials } from '@grpc/grpc-js';
import type { StackSettings } from '../contract/stack.ts';

/**
 * Starts a server of `@grpc/grpc-js` on a free port of the loopback and returns the port.
 *
 * @param credentials the package's own class, passed in so that no code loads the package for a type
 */
export function listenGrpc(
  server: Server,
  credentials: Pick<typeof ServerCredentials, 'createInsecure' | 'createSsl'>,
  tls: StackSettings['tls'],
): Promise<number> {
  const own =
    tls === null
      ? credentials.createInsecure()
      : credentials.createSsl(null, [
          { private_key: Buffer.from(tls.key), cert_chain: Buffer.from(tls.cert) },
        ]);
  return new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', own, (error, bound) => (error === null ? resolve(bound) : reject(error)));
  });
}
