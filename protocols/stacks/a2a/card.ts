/** `AgentCard` (§4.4.1), without the addresses, which only a server knows. */
export interface AgentCard {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly capabilities: {
    readonly streaming: boolean;
    readonly pushNotifications: boolean;
    readonly extensions?: readonly object[];
  };
  /** Proofs that a request must contain (§4.5), by the names that requirements use for them. */
  readonly securitySchemes?: Readonly<Record<string, object>>;
  readonly securityRequirements?: readonly object[];
  readonly defaultInputModes: readonly string[];
  readonly defaultOutputModes: readonly string[];
  readonly skills: readonly object[];
}

/** `AgentInterface` (§4.4.6): the address of one of an agent's transports. */
export interface AgentInterface {
  readonly url: string;
  readonly protocolBinding: 'JSONRPC' | 'HTTP+JSON' | 'GRPC';
  readonly protocolVersion: '1.0' | '0.3';
}

export const CARD_PATH = '/.well-known/agent-card.json';
/** Paths of the HTTP transports on our servers. */
export const PATHS = { JSONRPC: '/a2a/jsonrpc', 'HTTP+JSON': '/a2a/rest' } as const;

/** Returns the interfaces of an HTTP server. */
export function listInterfaces(
  url: string,
  protocols: readonly (keyof typeof PATHS)[],
): readonly AgentInterface[] {
  return protocols.map((protocolBinding) => ({
    url: `${url}${PATHS[protocolBinding]}`,
    protocolBinding,
    protocolVersion: '1.0',
  }));
}
