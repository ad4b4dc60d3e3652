import { MeshError, messageOf } from '../../../../core/contracts/errors.ts';
import { shortReason } from '../../../../core/contracts/packet.ts';
import type { StackSettings } from '../../contract/stack.ts';
import { meshCard } from '../card.ts';
import type { A2aClient } from '../client.ts';
import { SdkClient } from '../sdk/client.ts';
import { loadSdk } from '../sdk/sdk.ts';
import { loadGrpc } from './sdk-server.ts';

/** A client of the SDK over grpc-js, for an agent whose card is known. */
export async function connectSdkGrpc(
  purpose: string,
  address: string,
  settings: StackSettings,
): Promise<A2aClient> {
  const sdk = await loadSdk(purpose);
  const { credentials } = await loadGrpc(purpose);
  const { GrpcTransportFactory } = await import('@a2a-js/sdk/client/grpc');
  const { tls } = settings;
  const grpcChannelCredentials =
    tls === null ? credentials.createInsecure() : credentials.createSsl(Buffer.from(tls.cert));
  const factory = new sdk.client.ClientFactory({
    transports: [new GrpcTransportFactory({ grpcChannelCredentials })],
  });
  const url = new URL(address).host;
  const supportedInterfaces = [{ url, protocolBinding: 'GRPC', protocolVersion: '1.0' }];
  const card = sdk.model.AgentCard.fromJSON({ ...meshCard, supportedInterfaces });
  try {
    const client = await factory.createFromAgentCard(card);
    // The SDK's client has no way to be closed: its channel ends with the process, or when it has been idle for half an hour.
    return new SdkClient(sdk, client, settings, async () => undefined);
  } catch (cause) {
    throw new MeshError('agent', `A2A: no client of ${address}: ${shortReason(messageOf(cause))}`, { cause });
  }
}
