import { A2AService, grpcService, UserBuilder } from '@a2a-js/sdk/server/grpc';
import { A2aAgent } from '../a2a/agent/agent.ts';
import { serveBareHttp } from '../a2a/bare/http-server.ts';
import { type AgentInterface, listInterfaces } from '../a2a/card.ts';
import { createSdkAgent, serveSdkHttp } from '../a2a/sdk/server.ts';
import { serveGrpc } from '../plain/grpc.ts';
import { testSettings } from './settings.ts';
import { tckCard, tckWork } from './tck-work.ts';

/** A server as the test kit needs it. */
interface TckServer {
  readonly url: string;
  close(): Promise<void>;
}

const grpcAt = (url: string): AgentInterface => ({ url, protocolBinding: 'GRPC', protocolVersion: '1.0' });

export async function bareTckServer(): Promise<TckServer> {
  return serveBareHttp(new A2aAgent(tckCard, tckWork), testSettings);
}

export async function sdkTckServer(): Promise<TckServer> {
  const agent = createSdkAgent(tckCard, tckWork);
  const service = grpcService({
    requestHandler: agent.handler,
    userBuilder: UserBuilder.noAuthentication,
  });
  const grpc = await serveGrpc(A2AService, service, testSettings);
  const http = await serveSdkHttp(agent, testSettings);
  agent.setInterfaces([
    ...listInterfaces(http.url, ['JSONRPC', 'HTTP+JSON']),
    grpcAt(`127.0.0.1:${grpc.port}`),
  ]);
  return {
    url: http.url,
    async close() {
      agent.close();
      grpc.close();
      await http.close();
    },
  };
}
