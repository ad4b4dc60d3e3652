/** This process has the relays of a network; see `network-process.ts`. It ends with its channel. */
import type { NetworkProcess } from './network-process.ts';
import { openShapingRelay } from './shaping-relay.ts';

const network = JSON.parse(process.argv[2] ?? '');
const relays = new Map<number, Awaited<ReturnType<typeof openShapingRelay>>>();

process.on('disconnect', () => process.exit(0));
/** Does what the process was asked for; see there. */
const relay: NetworkProcess['relay'] = async ({ port, to, connectsAhead = false }) => {
  const own = relays.get(port ?? 0) ?? (await openShapingRelay(network));
  const { forwarder } = own;
  relays.set(forwarder.port, own);
  if (to !== undefined) forwarder.forwardTo(to);
  return {
    port: forwarder.port,
    isThere: !connectsAhead || (await forwarder.connectAhead()),
    roundTrips: [...relays.values()].reduce((sum, { countRoundTrips }) => sum + countRoundTrips(), 0),
  };
};

process.on('message', ({ call, request }: { call: number; request: Parameters<typeof relay>[0] }) => {
  void relay(request).then((relayed) => process.send?.({ call, relayed }));
});
