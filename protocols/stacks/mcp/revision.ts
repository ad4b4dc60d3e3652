/** MCP 2026-07-28, which has no session and no handshake: every request repeats what a session would have agreed on. */
export const MCP_REVISION = '2026-07-28';

/** Path of the endpoint of our HTTP servers. */
export const MCP_PATH = '/mcp';

/**
 * Time in which a session is set up, however short an exchange may take: a server on stdio is a process that
 * starts first.
 */
export const SESSION_TIMEOUT_MS = 10_000;

/** The mesh's one tool: it takes a packet. */
export const PACKET_TOOL = 'mesh.packet';
