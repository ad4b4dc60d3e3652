/** `AgentInterface` (§4.4.6): the address of one of an agent's transports. */
export interface AgentInterface {
  readonly url: string;
  readonly protocolBinding: 'JSONRPC' | 'HTTP+JSON' | 'GRPC';
  readonly protocolVersion: '1.0' | '0.3';
}

export const CARD_PATH = '/.well-known/agent-card.json';
export const JSON_RPC_PATH = '/a2a/jsonrpc';
export const REST_PATH = '/a2a/rest';

/** Returns the interfaces of an HTTP server. */
export function listInterfaces(
  url: string,
  protocols: readonly ('JSONRPC' | 'HTTP+JSON')[],
): readonly AgentInterface[] {
  const paths = { JSONRPC: JSON_RPC_PATH, 'HTTP+JSON': REST_PATH };
  return protocols.map((protocolBinding) => ({
    url: `${url}${paths[protocolBinding]}`,
    protocolBinding,
    protocolVersion: '1.0',
  }));
}
