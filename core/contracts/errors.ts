/**
 * The closed set of things that can go wrong. Callers branch on the code, never on the message.
 *
 * - `usage`: the command line asks for something that does not exist or does not fit.
 * - `config`: a file that the user wrote (team, task, document), or the address of a server, cannot be used.
 * - `io`: the operating system refused a file, a port or a process.
 * - `locked`: another run holds the output folder.
 * - `agent`: an agent process did not come up, died or answered wrongly at the handshake.
 * - `handshake`: hub and agent do not agree, or one could not prove that it knows the run's secret.
 * - `frame`: a violation of the framing; the connection it came on is closed.
 * - `packet`: a blob that does not decode or validate, or a packet that breaks a rule; it is dropped.
 * - `engine`: the engine (embedded or model server) could not do a step, for a reason that other questions share.
 * - `reply`: a model gave no usable reply to this question: it broke off, was filtered, refused, or the prompt was too long.
 * - `tool`: a tool that was asked could not do it: no such file, no key, no network, arguments that it cannot take.
 * - `store`: the store of attempts and cached answers cannot be read or written.
 * - `limit`: a bound that the user set (tokens, cost, time, iterations) was reached.
 * - `interrupted`: the user pressed Ctrl-C.
 */
export type ErrorCode =
  | 'usage'
  | 'config'
  | 'io'
  | 'locked'
  | 'agent'
  | 'handshake'
  | 'frame'
  | 'packet'
  | 'engine'
  | 'reply'
  | 'tool'
  | 'store'
  | 'limit'
  | 'interrupted';

/** Identifies the class across its copies: a file that the user wrote may bring its own. */
const BRAND = Symbol.for('gaia-mesh.error');

/** The one error class of the project. `message` says what was expected, what came, and where. */
export class MeshError extends Error {
  readonly code: ErrorCode;
  readonly setting: string | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    options?: ErrorOptions & {
      /** Name of the run setting whose change would help; the thrower need not know how a user sets it. */
      readonly setting?: string | undefined;
    },
  ) {
    super(message, options);
    this.name = 'MeshError';
    this.code = code;
    this.setting = options?.setting;
  }

  get [BRAND](): true {
    return true;
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}

/** Returns true if a model failed, whether only at this question or for good. */
export function isModelFault(error: unknown): error is MeshError {
  return error instanceof MeshError && (error.code === 'engine' || error.code === 'reply');
}

/** Returns the message of any thrown value. */
export function toErrorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Puts the place of a fault before its message, without repeating a word: `a2a` and `A2A: refused` give `a2a: refused`. */
export function placeMessage(place: string, message: string): string {
  const [first = ''] = message.split(': ', 1);
  const last = place.slice(place.lastIndexOf(' ') + 1);
  const isTwice = first.length < message.length && first.toLowerCase() === last.toLowerCase();
  return `${place}: ${isTwice ? message.slice(first.length + 2) : message}`;
}

/**
 * Returns the code of a failed system call (`ENOENT`, `EADDRINUSE`, …), or undefined if `error` is not one.
 */
export function readSystemCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** Explains in words why a file of the user could not be read. */
export function explainFileFault(error: unknown): string {
  switch (readSystemCode(error)) {
    case 'ENOENT':
      return 'there is no such file';
    case 'EISDIR':
      return 'it is a folder';
    case 'EACCES':
      return 'no permission to read it';
    default:
      return REFUSALS.get(readSystemCode(error) ?? '') ?? toErrorMessage(error);
  }
}

/**
 * Limits of the machine that any call may reach, such as a full disk. Reaching one is no bug of ours, and a
 * stack trace does not help.
 */
const LACKS: ReadonlyMap<string, string> = new Map([
  ['EAGAIN', 'no more processes can be started: raise the limit (ulimit -u), or end some'],
  ['ENOMEM', 'the memory is used up: end other programs, or raise the limit (ulimit -v)'],
  ['EFBIG', 'the file would be larger than files may be (ulimit -f)'],
  ['ENOSPC', 'the disk is full: make room, or choose another folder'],
  ['EDQUOT', 'the quota of the disk is used up: make room, or choose another folder'],
  ['EMFILE', 'too many files are open: raise the limit (ulimit -n)'],
  ['ENFILE', 'too many files are open on this machine'],
  ['EROFS', 'the file system is read-only: choose another folder'],
]);

/** The refusals of the operating system at a path, in words for reading and writing alike. */
const REFUSALS: ReadonlyMap<string, string> = new Map([
  ['EACCES', 'there is no permission: choose another place, or change its rights'],
  ['EPERM', 'it is not permitted: choose another place, or change its rights'],
  ['ENOENT', 'there is no such file or folder'],
  ['ENOTDIR', 'a file stands where a folder is expected'],
  ['EISDIR', 'a folder stands where a file is expected'],
  ['EEXIST', 'something of this name is there already'],
  ['ENOTEMPTY', 'the folder is not empty'],
  ['ENAMETOOLONG', 'the name is too long'],
  ['ELOOP', 'the links lead in a circle'],
  ['EBUSY', 'it is in use'],
  ['ENXIO', 'it is no regular file'],
  ['EIO', 'the device reports a fault'],
]);

/**
 * Explains a system call that failed because of the machine or its user, with the call and the path; returns undefined for any
 * other error.
 */
export function explainSystemFault(error: unknown): string | undefined {
  const code = readSystemCode(error);
  if (!(error instanceof Error) || code === undefined || !('syscall' in error)) return undefined;
  const why = LACKS.get(code) ?? REFUSALS.get(code);
  if (why === undefined) return undefined;
  const place = 'path' in error && typeof error.path === 'string' ? ` ${error.path}` : '';
  return `${String(error.syscall)}${place}: ${why} (${code})`;
}
