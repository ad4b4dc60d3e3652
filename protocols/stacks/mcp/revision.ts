/** MCP 2026-07-28, which has no session and no handshake: every request repeats what a session would have agreed on. */
export const MCP_REVISION = '2026-07-28';

/** Path of the endpoint of our HTTP servers. */
export const MCP_PATH = '/mcp';
