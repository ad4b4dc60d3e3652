import { withPackage } from '../../../../core/system/optional-package.ts';
import type { StackServer, StackSettings } from '../../contract/stack.ts';
import { listenGrpc } from '../../plain/grpc/listen-grpc.ts';
import type { AgentCard } from '../agent/agent.ts';
import { type SdkAgent, sdkAgent } from '../sdk/server.ts';
import type { AgentWork } from '../work.ts';

/** @throws MeshError `config` where it is not installed */
export function loadGrpc(purpose: string) {
  return withPackage('@grpc/grpc-js@1', purpose, () => import('@grpc/grpc-js'));
}

/**
 * Serves an agent by the SDK's service on grpc-js. Times are in whole seconds: nanoseconds take 0 to 6 bytes as it happens, so that no two
 * runs would have as many bytes.
 */
export async function serveSdkGrpc(
  purpose: string,
  card: AgentCard,
  work: AgentWork,
  settings: StackSettings,
): Promise<Omit<StackServer, 'wire'>> {
  const wholeSeconds = () => new Date(Math.floor(Date.now() / 1000) * 1000);
  const agent = await sdkAgent(purpose, card, work, settings, wholeSeconds);
  const { port, close } = await listenSdkGrpc(purpose, agent, settings);
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
  purpose: string,
  { handler: requestHandler }: SdkAgent,
  { tls }: StackSettings,
): Promise<{ readonly port: number; close(): void }> {
  const { Server, ServerCredentials } = await loadGrpc(purpose);
  const { A2AService, grpcService, UserBuilder } = await import('@a2a-js/sdk/server/grpc');
  const server = new Server();
  server.addService(A2AService, grpcService({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
  const port = await listenGrpc(server, ServerCredentials, tls);
  return { port, close: () => server.forceShutdown() };
}
