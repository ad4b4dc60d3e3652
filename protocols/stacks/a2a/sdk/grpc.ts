import type { TransportFactory } from '@a2a-js/sdk/client';
import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { MAX_FRAME_BYTES } from '@gaia-mesh/core/contracts/limits.ts';
import { shortenReason } from '@gaia-mesh/core/contracts/packet.ts';
import { withPackage } from '@gaia-mesh/core/system/optional-package.ts';
import type { ChannelCredentials } from '@grpc/grpc-js';
import type { Inbox, Stack, StackServer, StackSettings } from '../../contract/stack.ts';
import { meterStack } from '../../meter/metered.ts';
import { listenGrpc } from '../../plain/listen-grpc.ts';
import { type A2aClient, a2aTraits, createStackClient, meshCard } from '../exchange.ts';
import { createWork } from '../work.ts';
import { createSdkAgent, loadSdk, type SdkAgent } from './server.ts';
import { createSdkClient } from './stacks.ts';

const PURPOSE = 'the stack a2a/grpc';

/** Options of servers and channels of `@grpc/grpc-js`, which by itself takes messages of at most 4 MiB. */
const GRPC_OPTIONS = { 'grpc.max_receive_message_length': MAX_FRAME_BYTES };

/**
 * A2A over gRPC by its own SDK and grpc-js at both ends. Agent cards are read over HTTP/1.1 and so on another
 * port; here the client knows the agent by configuration, which A2A allows as well (§8.2), so that the
 * session is gRPC's alone. All clients of an address share one connection.
 */
export const a2aGrpcSdk: Stack = meterStack({
  name: 'a2a/grpc',
  protocol: 'a2a',
  transport: 'grpc',
  implementation: 'sdk',
  traits: {
    ...a2aTraits,
    largestMessageBytes: MAX_FRAME_BYTES,
    fixed: ['connections', 'keepAliveMs'],
  },
  serve,
  connect: async (address, settings) => createStackClient(await connect(address, settings)),
});

/** @throws MeshError `config` if it is not installed */
function loadGrpc() {
  return withPackage('@grpc/grpc-js@1', PURPOSE, () => import('@grpc/grpc-js'));
}

/**
 * Serves an agent by the SDK's service on grpc-js. Times are in whole seconds: nanoseconds take 0 to 6 bytes
 * depending on the time, so that two runs would differ in bytes.
 */
async function serve(inbox: Inbox, settings: StackSettings): Promise<Omit<StackServer, 'wire'>> {
  const wholeSeconds = () => new Date(Math.floor(Date.now() / 1000) * 1000);
  const agent = await createSdkAgent(PURPOSE, meshCard, createWork(inbox), wholeSeconds);
  const { port, close } = await listenSdkGrpc(agent, settings);
  const url = `127.0.0.1:${settings.advertisedPort ?? port}`;
  agent.setInterfaces([{ url, protocolBinding: 'GRPC', protocolVersion: '1.0' }]);
  return {
    address: `grpc://${url}`,
    port,
    async close() {
      await agent.close();
      close();
    },
  };
}

export async function listenSdkGrpc(
  { handler: requestHandler }: SdkAgent,
  { tls }: StackSettings,
): Promise<{ readonly port: number; close(): void }> {
  const { Server, ServerCredentials } = await loadGrpc();
  const { A2AService, grpcService, UserBuilder } = await import('@a2a-js/sdk/server/grpc');
  const server = new Server(GRPC_OPTIONS);
  server.addService(A2AService, grpcService({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
  const port = await listenGrpc(server, ServerCredentials, tls);
  return { port, close: () => server.forceShutdown() };
}

/**
 * Gives the transports of a factory a channel that takes large messages. The SDK passes on no channel options,
 * so its own channel, which has not connected yet, is replaced by another one of the same class.
 */
function allowLargeMessages(factory: TransportFactory, credentials: ChannelCredentials): TransportFactory {
  return {
    protocolName: factory.protocolName,
    async create(url, card) {
      const transport = await factory.create(url, card);
      const client: unknown = Reflect.get(transport, 'grpcClient');
      const { Client } = await loadGrpc();
      if (!(client instanceof Client))
        throw new MeshError('config', `${PURPOSE}: this version of @a2a-js/sdk has another client of gRPC`);
      const own: unknown = Reflect.construct(Object(client).constructor, [url, credentials, GRPC_OPTIONS]);
      client.close();
      Reflect.set(transport, 'grpcClient', own);
      return transport;
    },
  };
}

/** Creates a client of the SDK over grpc-js, for an agent whose card is known. */
async function connect(address: string, settings: StackSettings): Promise<A2aClient> {
  const sdk = await loadSdk(PURPOSE);
  const { credentials } = await loadGrpc();
  const { GrpcTransportFactory } = await import('@a2a-js/sdk/client/grpc');
  const { tls } = settings;
  const grpcChannelCredentials =
    tls === null ? credentials.createInsecure() : credentials.createSsl(Buffer.from(tls.cert));
  const factory = new sdk.client.ClientFactory({
    transports: [
      allowLargeMessages(new GrpcTransportFactory({ grpcChannelCredentials }), grpcChannelCredentials),
    ],
  });
  const url = new URL(address).host;
  const supportedInterfaces = [{ url, protocolBinding: 'GRPC', protocolVersion: '1.0' }];
  const card = sdk.model.AgentCard.fromJSON({ ...meshCard, supportedInterfaces });
  try {
    const client = await factory.createFromAgentCard(card);
    // The SDK's client cannot be closed: its channel ends with the process, or after half an hour without
    // use.
    return createSdkClient(sdk, client, async () => undefined);
  } catch (cause) {
    throw new MeshError(
      'agent',
      `A2A: cannot connect to ${address}: ${shortenReason(toErrorMessage(cause))}`,
      {
        cause,
      },
    );
  }
}
