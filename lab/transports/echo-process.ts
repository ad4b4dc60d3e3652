// The other process of `transports`: reads frames, and sends back those that ask for it.
// Usage: echo-process.ts [subject on the NATS server; without it, TCP], with a channel to whoever starts it.

import { MAX_FRAME_BYTES } from '../../core/contracts/limits.ts';
import { natsAddress } from '../../core/transports/nats/nats-address.ts';
import { natsListen } from '../../core/transports/nats/nats-listen.ts';
import { tcpListen } from '../../core/transports/tcp/tcp-transport.ts';
import { ECHO, ECHO_NODE } from './echo-peer.ts';

const [mesh] = process.argv.slice(2);
const listen =
  mesh === undefined
    ? tcpListen(0)
    : natsListen({ address: natsAddress(undefined, process.env), mesh, node: ECHO_NODE.id });
const listener = await listen({
  accept(link) {
    link.start(MAX_FRAME_BYTES, (run) => {
      for (const blob of run.blobs()) if (blob[0] === ECHO) link.sendBlob(blob);
      return 'done';
    });
  },
  fault: (message) => console.error(message),
});
process.on('disconnect', () => process.exit());
// A terminal's Ctrl-C is for the one that started it, which ends it in order.
process.on('SIGINT', () => undefined);
process.send?.({ listening: listener.port });
