import { AgentCard } from '@a2a-js/sdk';
import { ClientFactory, type TransportFactory } from '@a2a-js/sdk/client';
import { GrpcTransportFactory } from '@a2a-js/sdk/client/grpc';
import { A2AService, grpcService, UserBuilder } from '@a2a-js/sdk/server/grpc';
import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { shortenReason } from '@gaia-mesh/core/contracts/packet.ts';
import { type ChannelCredentials, Client } from '@grpc/grpc-js';
import type { Inbox, Stack, StackClient, StackServer, StackSettings } from '../../contract/stack.ts';
import { meterStack } from '../../meter/metered.ts';
import { createGrpcCredentials, GRPC_OPTIONS, serveGrpc } from '../../plain/grpc.ts';
import { createWork, meshCard } from '../packets.ts';
import { createSdkAgent } from './server.ts';
import { createSdkClient } from './stacks.ts';

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
  traits: { oneWay: 'acknowledged', hasTls: true, fixed: ['connections', 'keepAliveMs'] },
  serve,
  connect,
});

/**
 * Serves an agent by the SDK's service on grpc-js. Times are in whole seconds: nanoseconds take 0 to 6 bytes
 * depending on the time, so that two runs would differ in bytes.
 */
async function serve(inbox: Inbox, settings: StackSettings): Promise<Omit<StackServer, 'wire'>> {
  const wholeSeconds = () => new Date(Math.floor(Date.now() / 1000) * 1000);
  const agent = createSdkAgent(meshCard, createWork(inbox), wholeSeconds);
  const service = grpcService({
    requestHandler: agent.handler,
    userBuilder: UserBuilder.noAuthentication,
  });
  const { port, close } = await serveGrpc(A2AService, service, settings);
  const url = `127.0.0.1:${settings.advertisedPort ?? port}`;
  agent.setInterfaces([{ url, protocolBinding: 'GRPC', protocolVersion: '1.0' }]);
  return {
    address: `grpc://${url}`,
    port,
    async close() {
      agent.close();
      close();
    },
  };
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
      if (!(client instanceof Client))
        throw new MeshError(
          'config',
          'the stack a2a/grpc: this version of @a2a-js/sdk has another client of gRPC',
        );
      const own: unknown = Reflect.construct(Object(client).constructor, [url, credentials, GRPC_OPTIONS]);
      client.close();
      Reflect.set(transport, 'grpcClient', own);
      return transport;
    },
  };
}

/** Connects a client of the SDK over grpc-js to an agent whose card is known. */
async function connect(address: string, settings: StackSettings): Promise<Omit<StackClient, 'wire'>> {
  const grpcChannelCredentials = createGrpcCredentials(settings);
  const factory = new ClientFactory({
    transports: [
      allowLargeMessages(new GrpcTransportFactory({ grpcChannelCredentials }), grpcChannelCredentials),
    ],
  });
  const url = new URL(address).host;
  const supportedInterfaces = [{ url, protocolBinding: 'GRPC', protocolVersion: '1.0' }];
  const card = AgentCard.fromJSON({ ...meshCard, supportedInterfaces });
  try {
    const client = await factory.createFromAgentCard(card);
    // The SDK's client cannot be closed: its channel ends with the process, or after half an hour without
    // use.
    return createSdkClient(client, async () => undefined);
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
