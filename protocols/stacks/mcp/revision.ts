/** MCP 2026-07-28: no session and no handshake; every request says what a session would have agreed on. */
export const MCP_REVISION = '2026-07-28';

/** Where an HTTP server of ours has its endpoint. */
export const MCP_PATH = '/mcp';

/** A session is set up in this time, however short an exchange may take: a server on stdio is a process that starts first. */
export const SESSION_TIMEOUT_MS = 10_000;

/** The mesh's one tool: it takes a packet. */
export const PACKET_TOOL = 'mesh.packet';

/** What a client says in each request (basic, "`_meta`"). */
export function buildRequestMeta(clientName: string) {
  return {
    'io.modelcontextprotocol/protocolVersion': MCP_REVISION,
    'io.modelcontextprotocol/clientInfo': { name: clientName, version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
}
