import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { KeptBytes } from '@gaia-mesh/core/system/kept-bytes.ts';

/** An error of A2A 1.0 (§5.4) with its codes in each transport. */
interface Fault {
  readonly jsonRpcCode: number;
  readonly httpStatus: number;
  /** Number and name of the gRPC status. */
  readonly grpc: readonly [code: number, name: string];
  /** Reason in the accompanying `google.rpc.ErrorInfo`; JSON-RPC's own errors have none. */
  readonly reason?: string;
}

const INVALID_ARGUMENT = [3, 'INVALID_ARGUMENT'] as const;
const NOT_FOUND = [5, 'NOT_FOUND'] as const;
const FAILED_PRECONDITION = [9, 'FAILED_PRECONDITION'] as const;
const UNAUTHENTICATED = [16, 'UNAUTHENTICATED'] as const;
const UNIMPLEMENTED = [12, 'UNIMPLEMENTED'] as const;
const INTERNAL = [13, 'INTERNAL'] as const;
const RESOURCE_EXHAUSTED = [8, 'RESOURCE_EXHAUSTED'] as const;

const FAULTS = {
  taskNotFound: { jsonRpcCode: -32001, httpStatus: 404, grpc: NOT_FOUND, reason: 'TASK_NOT_FOUND' },
  taskNotCancelable: {
    jsonRpcCode: -32002,
    httpStatus: 409,
    grpc: FAILED_PRECONDITION,
    reason: 'TASK_NOT_CANCELABLE',
  },
  pushNotSupported: {
    jsonRpcCode: -32003,
    httpStatus: 400,
    grpc: UNIMPLEMENTED,
    reason: 'PUSH_NOTIFICATION_NOT_SUPPORTED',
  },
  unsupportedOperation: {
    jsonRpcCode: -32004,
    httpStatus: 400,
    grpc: UNIMPLEMENTED,
    reason: 'UNSUPPORTED_OPERATION',
  },
  contentTypeNotSupported: {
    jsonRpcCode: -32005,
    httpStatus: 415,
    grpc: INVALID_ARGUMENT,
    reason: 'CONTENT_TYPE_NOT_SUPPORTED',
  },
  versionNotSupported: {
    jsonRpcCode: -32009,
    httpStatus: 400,
    grpc: UNIMPLEMENTED,
    reason: 'VERSION_NOT_SUPPORTED',
  },
  unauthenticated: { jsonRpcCode: -32600, httpStatus: 401, grpc: UNAUTHENTICATED },
  tooLarge: { jsonRpcCode: -32600, httpStatus: 413, grpc: RESOURCE_EXHAUSTED },
  /** No room now, and perhaps later. */
  busy: { jsonRpcCode: -32603, httpStatus: 503, grpc: RESOURCE_EXHAUSTED },
  parseError: { jsonRpcCode: -32700, httpStatus: 400, grpc: INVALID_ARGUMENT },
  invalidRequest: { jsonRpcCode: -32600, httpStatus: 400, grpc: INVALID_ARGUMENT },
  methodNotFound: { jsonRpcCode: -32601, httpStatus: 404, grpc: UNIMPLEMENTED },
  invalidParams: { jsonRpcCode: -32602, httpStatus: 400, grpc: INVALID_ARGUMENT },
  internal: { jsonRpcCode: -32603, httpStatus: 500, grpc: INTERNAL },
} as const satisfies Readonly<Record<string, Fault>>;

/** Creates an error whose cause is the fault, so that a transport knows which code to write. */
export function createFaultError(name: keyof typeof FAULTS, message: string): MeshError {
  return new MeshError('packet', message, { cause: FAULTS[name] });
}

const known: ReadonlySet<unknown> = new Set(Object.values(FAULTS));

/** Returns the fault for a transport to write: `internal` for every error that is neither of the protocol nor of a limit. */
export function toFault(error: unknown): Fault {
  const cause = error instanceof Error ? error.cause : undefined;
  if (isFault(cause)) return cause;
  if (KeptBytes.isShortage(error)) return FAULTS.busy;
  return error instanceof MeshError && error.code === 'limit' ? FAULTS.tooLarge : FAULTS.internal;
}

function isFault(value: unknown): value is Fault {
  return known.has(value);
}

/** Builds the details of an error (§9.5, §11.6), empty for an error without a reason. */
export function buildErrorInfo({ reason }: Fault): readonly object[] {
  if (reason === undefined) return [];
  return [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'a2a-protocol.org' }];
}
