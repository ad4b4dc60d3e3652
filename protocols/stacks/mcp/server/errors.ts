import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';

/** An error of JSON-RPC and of MCP (basic, "Errors"), and its HTTP status. */
export interface McpFault {
  readonly code: number;
  readonly httpStatus: number;
  readonly data?: object;
}

export const PARSE_ERROR: McpFault = { code: -32700, httpStatus: 400 };
export const INVALID_REQUEST: McpFault = { code: -32600, httpStatus: 400 };
export const METHOD_NOT_FOUND: McpFault = { code: -32601, httpStatus: 404 };
export const INVALID_PARAMS: McpFault = { code: -32602, httpStatus: 400 };
/** The error for a header that differs from the body (streamable HTTP, "Server Validation"). */
export const HEADER_MISMATCH: McpFault = { code: -32020, httpStatus: 400 };
const INTERNAL: McpFault = { code: -32603, httpStatus: 500 };

export function createRevisionFault(requested: string, supported: readonly string[]): McpFault {
  return { code: -32022, httpStatus: 400, data: { requested, supported } };
}

const faults = new WeakMap<MeshError, McpFault>();

export function createMcpError(fault: McpFault, message: string): MeshError {
  const error = new MeshError('packet', message);
  faults.set(error, fault);
  return error;
}

export function toMcpFault(error: unknown): McpFault {
  return (error instanceof MeshError ? faults.get(error) : undefined) ?? INTERNAL;
}
