import type { Stack } from '../../contract/stack.ts';
import { metered } from '../../meter/metered.ts';
import { BareClient } from '../bare/bare-client.ts';
import { bareAgent } from '../bare/http-server.ts';
import { meshCard } from '../card.ts';
import { createStackClient } from '../stack-client.ts';
import { a2aTraits } from '../traits.ts';
import { workOf } from '../work.ts';
import { GrpcConnection } from './connection.ts';
import { connectSdkGrpc } from './sdk-client.ts';
import { serveSdkGrpc } from './sdk-server.ts';
import { serveGrpc } from './server.ts';

/**
 * A2A over gRPC. Agent cards are read over HTTP/1.1 and so on another port; here the client knows the agent by configuration, which
 * A2A has as well (§8.2), so that the session is gRPC's alone.
 */
const common = { name: 'a2a/grpc', protocol: 'a2a', transport: 'grpc' } as const;
const PURPOSE = 'the stack a2a/grpc';

/** What grpc-js takes from a server, for which the SDK's client has no option. */
const LARGEST_MESSAGE_BYTES = 4 * 1024 * 1024;

export const a2aGrpcBare: Stack = metered({
  ...common,
  implementation: 'bare',
  traits: a2aTraits,
  async serve(inbox, settings) {
    const { agent, close } = bareAgent(meshCard, workOf(inbox), settings);
    const server = await serveGrpc(agent, settings);
    return {
      address: `grpc://${server.url}`,
      port: server.port,
      async close() {
        close();
        await server.close();
      },
    };
  },
  async connect(address, settings) {
    const { tls, deadlineMs } = settings;
    const url = `${tls === null ? 'http' : 'https'}://${new URL(address).host}`;
    const connection = new GrpcConnection(url, { ...settings, ca: tls?.cert });
    await connection.opened(AbortSignal.timeout(deadlineMs));
    return createStackClient(new BareClient(connection, settings), settings);
  },
});

/** One connection that all clients of an address share: the SDK's factory passes on no option of channels, Nagle's neither. */
export const a2aGrpcSdk: Stack = metered({
  ...common,
  implementation: 'sdk',
  traits: { ...a2aTraits, largestMessageBytes: LARGEST_MESSAGE_BYTES },
  serve: (inbox, settings) => serveSdkGrpc(PURPOSE, meshCard, workOf(inbox), settings),
  connect: async (address, settings) =>
    createStackClient(await connectSdkGrpc(PURPOSE, address, settings), settings),
});
