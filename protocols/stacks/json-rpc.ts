import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { KEPT_LIMITS, MAX_MESSAGE_DEPTH } from '@gaia-mesh/core/contracts/limits.ts';
import { formatIssues } from '@gaia-mesh/core/contracts/packet.ts';
import { KeptBytes } from '@gaia-mesh/core/system/kept-bytes.ts';
import { parseForeignJson } from '@gaia-mesh/core/system/parse-json.ts';
import * as z from 'zod';

/** This module reads the requests of JSON-RPC 2.0 and has its errors, as our servers of MCP and A2A need them. */

const requestSchema = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string().max(KEPT_LIMITS.idCharacters), z.number()]).optional(),
  method: z.string(),
  // JSON-RPC also has lists of parameters, for which a method says itself that it takes none.
  params: z
    .custom<Record<string, unknown>>(
      (value) => typeof value === 'object' && value !== null,
      'must be an object',
    )
    .optional(),
});

/** A parsed request. Without an id it is a notification. */
export type RpcRequest = z.infer<typeof requestSchema>;

/**
 * Parses a message of a client and keeps every number exact, so that ids return in answers unchanged.
 *
 * @param maxBytes maximum memory that it may take
 * @throws MeshError with the fault `parseError` or `invalidRequest`; `limit` beyond `maxBytes`
 */
export function readRequest(text: string, maxBytes?: number): RpcRequest {
  const { success, data, error } = requestSchema.safeParse(parseMessage(text, maxBytes));
  if (!success) throw createFaultError('invalidRequest', `not a JSON-RPC request: ${formatIssues(error)}`);
  return data;
}

function parseMessage(text: string, maxBytes: number | undefined): unknown {
  try {
    return parseForeignJson(text, { maxDepth: MAX_MESSAGE_DEPTH, maxBytes, isExact: true });
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw createFaultError('parseError', `the message is not JSON: ${toErrorMessage(error)}`);
  }
}

interface Fault {
  readonly code: number;
  /** Status of MCP's HTTP answer; A2A answers every request with 200. */
  readonly httpStatus: number;
  readonly data?: object | undefined;
}

/** Creates an error of A2A 1.0 (§5.4), whose data name it by a `google.rpc.ErrorInfo` (§9.5). */
function createA2aFault(code: number, reason: string): Fault {
  const info = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'a2a-protocol.org' };
  return { code, httpStatus: 200, data: [info] };
}

const FAULTS = {
  parseError: { code: -32700, httpStatus: 400 },
  invalidRequest: { code: -32600, httpStatus: 400 },
  methodNotFound: { code: -32601, httpStatus: 404 },
  invalidParams: { code: -32602, httpStatus: 400 },
  internal: { code: -32603, httpStatus: 500 },
  tooLarge: { code: -32600, httpStatus: 413 },
  /** The server has no room now, and perhaps later. */
  busy: { code: -32603, httpStatus: 503 },

  // MCP (basic, "Errors").
  /** A header differs from the body (streamable HTTP, "Server Validation"). */
  headerMismatch: { code: -32020, httpStatus: 400 },
  /** The server does not speak the revision; the data name those that it speaks. */
  wrongRevision: { code: -32022, httpStatus: 400 },
  /** A client of an earlier revision states one that the server does not speak. */
  unknownRevision: { code: -32000, httpStatus: 400 },

  // A2A.
  taskNotFound: createA2aFault(-32001, 'TASK_NOT_FOUND'),
  taskNotCancelable: createA2aFault(-32002, 'TASK_NOT_CANCELABLE'),
  pushNotSupported: createA2aFault(-32003, 'PUSH_NOTIFICATION_NOT_SUPPORTED'),
  unsupportedOperation: createA2aFault(-32004, 'UNSUPPORTED_OPERATION'),
  contentTypeNotSupported: createA2aFault(-32005, 'CONTENT_TYPE_NOT_SUPPORTED'),
  versionNotSupported: createA2aFault(-32009, 'VERSION_NOT_SUPPORTED'),
} as const satisfies Readonly<Record<string, Fault>>;

const faults = new WeakMap<MeshError, Fault>();

/**
 * Creates an error for the client of a server.
 *
 * @param fault its name, or the code of an error that another server gave
 */
export function createFaultError(
  fault: keyof typeof FAULTS | number,
  message: string,
  data?: object,
): MeshError {
  const error = new MeshError('packet', message);
  const known: Fault = typeof fault === 'number' ? { code: fault, httpStatus: 200 } : FAULTS[fault];
  faults.set(error, data === undefined ? known : { ...known, data });
  return error;
}

/** Returns the fault for the server to write: `internal` for every error that is neither of the protocol nor of a limit. */
export function toFault(error: unknown): Fault {
  if (KeptBytes.isShortage(error)) return FAULTS.busy;
  if (!(error instanceof MeshError)) return FAULTS.internal;
  return faults.get(error) ?? (error.code === 'limit' ? FAULTS.tooLarge : FAULTS.internal);
}

/** Builds the response that reports an error. */
export function buildErrorResponse(id: RpcRequest['id'], error: unknown): object {
  const { code, data } = toFault(error);
  return { jsonrpc: '2.0', id: id ?? null, error: { code, message: toErrorMessage(error), data } };
}
