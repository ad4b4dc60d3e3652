import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { KeptBytes } from '@gaia-mesh/core/system/kept-bytes.ts';

/** An error of JSON-RPC and of MCP (basic, "Errors"), and its HTTP status. */
interface McpFault {
  readonly code: number;
  readonly httpStatus: number;
  readonly data?: object | undefined;
}

const FAULTS = {
  parseError: { code: -32700, httpStatus: 400 },
  invalidRequest: { code: -32600, httpStatus: 400 },
  methodNotFound: { code: -32601, httpStatus: 404 },
  invalidParams: { code: -32602, httpStatus: 400 },
  /** A header differs from the body (streamable HTTP, "Server Validation"). */
  headerMismatch: { code: -32020, httpStatus: 400 },
  /** The server does not speak the revision; the data name those that it speaks. */
  wrongRevision: { code: -32022, httpStatus: 400 },
  /** A client of an earlier revision states one that the server does not speak. */
  unknownRevision: { code: -32000, httpStatus: 400 },
  internal: { code: -32603, httpStatus: 500 },
  tooLarge: { code: -32600, httpStatus: 413 },
  /** The server has no room now, and perhaps later. */
  busy: { code: -32603, httpStatus: 503 },
} as const satisfies Readonly<Record<string, McpFault>>;

const faults = new WeakMap<MeshError, McpFault>();

/** @param fault its name, or the code of an error that another server gave */
export function createMcpError(
  fault: keyof typeof FAULTS | number,
  message: string,
  data?: object,
): MeshError {
  const error = new MeshError('packet', message);
  const known = typeof fault === 'number' ? { code: fault, httpStatus: 200 } : FAULTS[fault];
  faults.set(error, { ...known, data });
  return error;
}

export function toMcpFault(error: unknown): McpFault {
  if (KeptBytes.isShortage(error)) return FAULTS.busy;
  if (!(error instanceof MeshError)) return FAULTS.internal;
  return faults.get(error) ?? (error.code === 'limit' ? FAULTS.tooLarge : FAULTS.internal);
}
