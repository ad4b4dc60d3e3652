import { createHash } from 'node:crypto';
import * as z from 'zod';
import { MeshError } from './errors.ts';
import { MAX_PAYLOAD_DEPTH } from './limits.ts';

/** Longest id of a node, in characters: DIDs with a key in them have about 200. */
const MAX_NODE_ID_LENGTH = 256;

/**
 * Characters of URIs, DIDs, URNs and names like `org/team/agent`; lists and subjects use other separators
 * (`,`, `*`, `>`).
 */
const NODE_ID = /^[A-Za-z0-9][A-Za-z0-9_.:/#?=&%@+-]*$/;

/** Ids that are valid folder names on every file system as they stand. */
const FOLDER_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,62}[A-Za-z0-9_-])?$/;
const READABLE_LENGTH = 48;
const DIGEST_LENGTH = 16;

/**
 * Id of a node: a short name, or the identity that the agent has elsewhere, such as
 * `did:wba:example.com:alice` (ANP), `urn:agent:example:alice` or `acme/support/triage` (SLIM).
 */
export const nodeIdSchema = z
  .string()
  .max(MAX_NODE_ID_LENGTH, `must have at most ${MAX_NODE_ID_LENGTH} characters`)
  .regex(
    NODE_ID,
    'must begin with a letter or digit and consist of A-Z a-z 0-9 and _ . - : / # ? = & % @ + only',
  );

function isNodeId(value: unknown): boolean {
  return typeof value === 'string' && value.length <= MAX_NODE_ID_LENGTH && NODE_ID.test(value);
}

/**
 * Returns the name of the folder `workspaces/<name>` of the agent `id`: the id itself if it is a safe name,
 * otherwise its readable part and a digest (the first 64 bits of SHA-256), so that no id leads out of the
 * folder and no two ids share one.
 */
export function toFolderName(id: string): string {
  if (FOLDER_NAME.test(id)) return id;
  const readable = id.replaceAll(/[^A-Za-z0-9]+/g, '-').slice(0, READABLE_LENGTH);
  return `${readable}_${createHash('sha256').update(id).digest('hex').slice(0, DIGEST_LENGTH)}`;
}

/**
 * The envelope: the one schema of everything that travels after the handshake. `payload` holds the
 * application’s content; the keys around it are for the mesh. Adapters validate with {@link parsePacket} where
 * bytes become values.
 *
 * | key | meaning |
 * |---|---|
 * | `type` | kind of the payload; agents subscribe to types. `mesh.*` belongs to the mesh and is never relayed |
 * | `from`, `to` | node ids; without `to` the packet is for all agents |
 * | `id`, `reply_to` | id of this packet, unique in the run; id of the request that this one answers |
 * | `task_id` | the task (question) that it belongs to |
 * | `tag` | `final_answer` ends the task; `task_failed` ends it without an answer |
 * | `token_used` | tokens that the work for this packet took |
 * | `log_uri` | path of the sender’s record, relative to the output folder |
 * | `ts` | milliseconds since 1970 at the sender, for people; clocks that measure are monotonic |
 */
export interface Packet {
  readonly type: string;
  readonly from: string;
  readonly to?: string;
  readonly id: string;
  readonly reply_to?: string;
  readonly task_id: string;
  readonly tag?: string;
  readonly token_used: number;
  readonly log_uri?: string;
  readonly ts: number;
  readonly payload: JsonObject;
}

/** The part of a packet that the hub needs to deliver and count it. */
export interface PacketHead extends Pick<Packet, 'type' | 'from' | 'id' | 'task_id' | 'token_used'> {
  readonly to?: string | undefined;
  readonly tag?: string | undefined;
}

/** Copies `head` to a value that depends on no bytes; see `Codec.peekAt`. */
export function copyHead({ type, from, to, id, task_id, tag, token_used }: PacketHead): PacketHead {
  const head: { -readonly [K in keyof PacketHead]: PacketHead[K] } = { type, from, id, task_id, token_used };
  if (to !== undefined) head.to = to;
  if (tag !== undefined) head.tag = tag;
  return head;
}

export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** Narrows a JSON value to an object that is not a list. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Narrows a JSON value to a list. `Array.isArray` does not narrow to a read-only one. */
export function isJsonList(value: unknown): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** Packet type of the document that opens a task (MP-21). */
export const DOC_INIT = 'doc_init';

export const FINAL_ANSWER = 'final_answer';
export const TASK_FAILED = 'task_failed';
export const HUB_ID = 'hub';

/**
 * Packet types with this prefix belong to the mesh (such as ledgers at the end of a run): they are never
 * relayed, and applications cannot use them.
 */
export const MESH_TYPE_PREFIX = 'mesh.';

/** Types of the mesh's own packets, which are session bytes. */
export const MESH_TYPES = {
  /**
   * The hub requests the ledgers after the last task. A ledger records what one agent sent, which only the sender can
   * know. The hub counts whole frames and nothing else, so accounting costs the relay nothing.
   */
  settle: 'mesh.settle',
  /** An agent hands in its ledger, which is compared with the hub's counts. */
  ledger: 'mesh.books',
  /** The agent `id` is gone, or back, so that others stop or resume waiting for its replies. */
  lost: 'mesh.lost',
  back: 'mesh.back',
  /** A task (`task_id` of the envelope) ended without an answer, so that work on it stops. */
  stop: 'mesh.stop',
  /** Acknowledgements in both directions, whose bytes the ledger lists separately. */
  ack: 'mesh.ack',
} as const;

/** Maximum length of each key of the head, in UTF-16 units; none may be empty. */
export const HEAD_LENGTHS = {
  type: 64,
  from: MAX_NODE_ID_LENGTH,
  to: MAX_NODE_ID_LENGTH,
  id: MAX_NODE_ID_LENGTH + 32,
  task_id: 256,
  tag: 64,
} as const;

/** type, from, id, task_id, token_used, ts, payload. */
const REQUIRED_KEYS = 7;
const MAX_LOG_URI_LENGTH = 1024;

const anyText = (maxLength: number) =>
  z
    .string()
    .max(maxLength)
    .refine((value) => value.isWellFormed(), 'has a lone surrogate');
const text = (maxLength: number) => anyText(maxLength).min(1);

const packetSchema = z.strictObject({
  type: text(HEAD_LENGTHS.type),
  from: nodeIdSchema,
  to: nodeIdSchema.exactOptional(),
  id: text(HEAD_LENGTHS.id),
  reply_to: text(HEAD_LENGTHS.id).exactOptional(),
  task_id: text(HEAD_LENGTHS.task_id),
  tag: text(HEAD_LENGTHS.tag).exactOptional(),
  token_used: z.int().nonnegative(),
  log_uri: anyText(MAX_LOG_URI_LENGTH).exactOptional(),
  ts: z.int().nonnegative(),
  payload: z.custom<JsonObject>(isPlainObject, 'must be an object'),
});

/**
 * Checks that `value` is a packet and returns it unchanged. It does not return zod's copy, which has the
 * schema's key order, because an encoder must see the sender's.
 *
 * @throws MeshError `packet`, naming the key and what is wrong with it
 */
export function parsePacket(value: unknown): Packet {
  // Every decoded packet passes here; the slower schema runs only to explain a fault.
  if (isPacket(value)) return value;
  const result = packetSchema.safeParse(value);
  const fault = result.success
    ? findJsonFault(result.data.payload, 'payload', 1)
    : formatIssues(result.error);
  throw new MeshError('packet', `not a packet: ${shortenReason(fault ?? 'it is refused')}`);
}

/** Returns false for everything that the schema, or {@link findJsonFault}, refuses. */
function isPacket(value: unknown): value is Packet {
  if (!isPlainObject(value)) return false;
  const { type, from, to, id, reply_to, task_id, tag, token_used, log_uri, ts, payload } = value;
  let keys = REQUIRED_KEYS;
  for (const optional of [to, reply_to, tag, log_uri]) if (optional !== undefined) keys += 1;
  return (
    Object.keys(value).length === keys &&
    isText(type, HEAD_LENGTHS.type) &&
    isNodeId(from) &&
    (to === undefined || isNodeId(to)) &&
    isText(id, HEAD_LENGTHS.id) &&
    (reply_to === undefined || isText(reply_to, HEAD_LENGTHS.id)) &&
    isText(task_id, HEAD_LENGTHS.task_id) &&
    (tag === undefined || isText(tag, HEAD_LENGTHS.tag)) &&
    isCount(token_used) &&
    (log_uri === undefined || log_uri === '' || isText(log_uri, MAX_LOG_URI_LENGTH)) &&
    isCount(ts) &&
    isPayload(payload)
  );
}

function isPayload(value: unknown): value is JsonObject {
  return isPlainObject(value) && isJson(value, 1);
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function isText(value: unknown, maxLength: number): boolean {
  return typeof value === 'string' && value.length > 0 && value.length <= maxLength && value.isWellFormed();
}

/** Formats the issues as one line that names each key and what is wrong with it. */
export function formatIssues(error: z.ZodError): string {
  return shortenReason(
    error.issues
      .slice(0, 5)
      .map((issue) =>
        [...(issue.path.length > 0 ? [issue.path.join('.')] : []), describeIssue(issue)].join(': '),
      )
      .join('; '),
  );
}

/** Zod's own words for a value of another type, and the words with which its other messages begin. */
const OTHER_TYPE = /^Invalid input: expected (.+), received (\w+)$/;
const ZODS_OWN = /^(Invalid |Too (big|small): |Unrecognized key)/;

/** Says what was expected and what was found; a message of a schema of ours stays as it is. */
function describeIssue(issue: z.core.$ZodIssue): string {
  const isUnion = issue.code === 'invalid_union' && issue.message === 'Invalid input';
  const firsts = isUnion ? issue.errors.flatMap(([first]) => first ?? []) : [issue];
  const types = firsts.flatMap(({ message }) => {
    const [, expected, received] = OTHER_TYPE.exec(message) ?? [];
    return expected === undefined || received === undefined ? [] : [{ expected, received }];
  });
  const [first] = types;
  // One form of the union takes the type of the value and refuses it for another reason.
  if (first === undefined || types.length < firsts.length)
    return (
      firsts
        .filter(({ message }) => !OTHER_TYPE.test(message))
        .map(reword)
        .join(', or ') || 'it cannot be used'
    );
  const expected = `expected ${types.map((type) => (type.expected === 'int' ? 'a whole number' : type.expected)).join(' or ')}`;
  return first.received === 'undefined' ? `it is missing; ${expected}` : `${expected}, got ${first.received}`;
}

/** Rewords a message of Zod's own as a sentence. */
function reword(issue: z.core.$ZodIssue): string {
  if (!ZODS_OWN.test(issue.message)) return issue.message;
  switch (issue.code) {
    case 'invalid_value':
      return `expected ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}`;
    case 'too_big':
      return `expected ${formatBound(issue.origin, issue.inclusive === false ? 'less than' : 'at most', issue.maximum)}`;
    case 'too_small':
      return `expected ${formatBound(issue.origin, issue.inclusive === false ? 'more than' : 'at least', issue.minimum)}`;
    case 'not_multiple_of':
      return `expected a multiple of ${issue.divisor}`;
    case 'unrecognized_keys':
      return `there is no such key: ${issue.keys.join(', ')}`;
    case 'invalid_format':
      return issue.format === 'regex'
        ? `expected a text like ${issue.pattern}`
        : `expected ${issue.message.replace(/^Invalid (string: must )?/, (_, must) => (must === undefined ? '' : 'a text that must '))}`;
    case 'invalid_union':
      return `expected ${issue.message
        .replace(/^.*Expected /, '')
        .replaceAll("'", '"')
        .replaceAll(' | ', ' or ')}`;
    default:
      return 'it cannot be used';
  }
}

const UNITS: Readonly<Record<string, string>> = {
  string: ' characters',
  array: ' items',
  set: ' items',
  map: ' items',
};

function formatBound(origin: string, how: string, bound: number | bigint): string {
  return `${how} ${bound}${UNITS[origin] ?? ''}`.replace(/^((?:at|less|more) \w+ 1 \w+)s$/, '$1');
}

/**
 * Maximum characters of a reason: it goes to logs and terminals, and may name a key that is as long as a
 * frame.
 */
const MAX_REASON_LENGTH = 1000;

/** Cuts `reason` to the length that a person still reads. */
export function shortenReason(reason: string): string {
  if (reason.length <= MAX_REASON_LENGTH) return reason;
  return `${reason.slice(0, MAX_REASON_LENGTH).toWellFormed()}…`;
}

function isPlainObject(value: unknown): value is JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Returns true if {@link findJsonFault} would find no fault. */
function isJson(value: unknown, depth: number): boolean {
  switch (typeof value) {
    case 'string':
      return value.isWellFormed();
    case 'number':
      return Number.isFinite(value);
    case 'boolean':
      return true;
    case 'object':
      break;
    default:
      return false;
  }
  if (value === null) return true;
  if (depth > MAX_PAYLOAD_DEPTH) return false;
  if (Array.isArray(value)) {
    // `every` would skip the holes of a sparse list.
    for (let i = 0; i < value.length; i++) if (!isJson(value[i], depth + 1)) return false;
    return true;
  }
  if (!isPlainObject(value)) return false;
  for (const key of Object.keys(value)) {
    if (key === '__proto__' || !key.isWellFormed() || !isJson(value[key], depth + 1)) return false;
  }
  return true;
}

/**
 * Describes why a value would change in some encoding, or returns undefined: `undefined`, NaN, dates, maps
 * and bytes are not JSON; lone surrogates have no UTF-8; `__proto__` is renamed by some decoders and obeyed
 * by others.
 */
function findJsonFault(value: unknown, path: string, depth: number): string | undefined {
  switch (typeof value) {
    case 'string':
      return value.isWellFormed() ? undefined : `${path} has a lone surrogate, which UTF-8 cannot hold`;
    case 'number':
      return Number.isFinite(value) ? undefined : `${path} is ${value}, which JSON cannot hold`;
    case 'boolean':
      return undefined;
    case 'object':
      break;
    default:
      return `${path} is ${typeof value}, which JSON cannot hold`;
  }
  if (value === null) return undefined;
  if (depth > MAX_PAYLOAD_DEPTH) return `${path} is nested deeper than ${MAX_PAYLOAD_DEPTH}`;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const fault = findJsonFault(value[i], `${path}[${i}]`, depth + 1);
      if (fault !== undefined) return fault;
    }
    return undefined;
  }
  if (!isPlainObject(value))
    return `${path} is a ${value.constructor?.name ?? 'value'}, which JSON cannot hold`;
  for (const key of Object.keys(value)) {
    if (key === '__proto__') return `${path} has a key __proto__`;
    if (!key.isWellFormed()) return `${path} has a key with a lone surrogate`;
    const fault = findJsonFault(value[key], `${path}.${key}`, depth + 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}
