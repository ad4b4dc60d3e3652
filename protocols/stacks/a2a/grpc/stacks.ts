import type { Stack } from '../../contract/stack.ts';
import { metered } from '../../meter/metered.ts';
import { meshCard } from '../card.ts';
import { createStackClient } from '../stack-client.ts';
import { a2aTraits } from '../traits.ts';
import { workOf } from '../work.ts';
import { connectSdkGrpc } from './sdk-client.ts';
import { serveSdkGrpc } from './sdk-server.ts';

const PURPOSE = 'the stack a2a/grpc';

/** What grpc-js takes from a server, for which the SDK's client has no option. */
const LARGEST_MESSAGE_BYTES = 4 * 1024 * 1024;

/**
 * A2A over gRPC. Agent cards are read over HTTP/1.1 and so on another port; here the client knows the agent by configuration, which
 * A2A has as well (§8.2), so that the session is gRPC's alone. One connection that all clients of an address share: the SDK's factory passes on
 * no option of channels, Nagle's neither.
 */
export const a2aGrpcSdk: Stack = metered({
  name: 'a2a/grpc',
  protocol: 'a2a',
  transport: 'grpc',
  implementation: 'sdk',
  traits: { ...a2aTraits, largestMessageBytes: LARGEST_MESSAGE_BYTES },
  serve: (inbox, settings) => serveSdkGrpc(PURPOSE, meshCard, workOf(inbox), settings),
  connect: async (address, settings) =>
    createStackClient(await connectSdkGrpc(PURPOSE, address, settings), settings),
});
