import { randomUUID } from 'node:crypto';
import os from 'node:os';
import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { createFramedTransport, type EndpointKind } from './framed-transport.ts';
import { createStreamStack } from './stream-stack.ts';

const SCHEME = 'unix:';

const socketFiles: EndpointKind = {
  // The path is short, as the operating system takes 104 to 108 bytes.
  free: () => ({ path: path.join(os.tmpdir(), `gaia-mesh-${randomUUID().slice(0, 8)}.sock`) }),
  formatAddress: (endpoint) => ('path' in endpoint ? `${SCHEME}${endpoint.path}` : ''),
  parseAddress(address) {
    if (!address.startsWith(SCHEME)) throw new MeshError('usage', `expected unix:PATH, received ${address}`);
    return { path: address.slice(SCHEME.length) };
  },
};

/** JSON behind a length of four bytes on a Unix domain socket: the minimum between two processes. */
export const jsonUnix = createStreamStack({
  transport: 'unix',
  implementation: 'bare',
  hasTls: false,
  ...createFramedTransport('json/unix', socketFiles),
});
