import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { KeptBytes } from '@gaia-mesh/core/system/kept-bytes.ts';

/** An error of A2A 1.0 (§5.4). */
interface Fault {
  readonly code: number;
  /** Reason in the accompanying `google.rpc.ErrorInfo`; JSON-RPC's own errors have none. */
  readonly reason?: string;
}

const FAULTS = {
  taskNotFound: { code: -32001, reason: 'TASK_NOT_FOUND' },
  taskNotCancelable: { code: -32002, reason: 'TASK_NOT_CANCELABLE' },
  pushNotSupported: { code: -32003, reason: 'PUSH_NOTIFICATION_NOT_SUPPORTED' },
  unsupportedOperation: { code: -32004, reason: 'UNSUPPORTED_OPERATION' },
  contentTypeNotSupported: { code: -32005, reason: 'CONTENT_TYPE_NOT_SUPPORTED' },
  versionNotSupported: { code: -32009, reason: 'VERSION_NOT_SUPPORTED' },
  tooLarge: { code: -32600 },
  /** No room now, and perhaps later. */
  busy: { code: -32603 },
  parseError: { code: -32700 },
  invalidRequest: { code: -32600 },
  methodNotFound: { code: -32601 },
  invalidParams: { code: -32602 },
  internal: { code: -32603 },
} as const satisfies Readonly<Record<string, Fault>>;

/** Creates an error whose cause is the fault, so that the server knows which code to write. */
export function createFaultError(name: keyof typeof FAULTS, message: string): MeshError {
  return new MeshError('packet', message, { cause: FAULTS[name] });
}

const known: ReadonlySet<unknown> = new Set(Object.values(FAULTS));

/** Returns the fault for the server to write: `internal` for every error that is neither of the protocol nor of a limit. */
export function toFault(error: unknown): Fault {
  const cause = error instanceof Error ? error.cause : undefined;
  if (isFault(cause)) return cause;
  if (KeptBytes.isShortage(error)) return FAULTS.busy;
  return error instanceof MeshError && error.code === 'limit' ? FAULTS.tooLarge : FAULTS.internal;
}

function isFault(value: unknown): value is Fault {
  return known.has(value);
}
