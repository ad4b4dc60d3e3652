import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { findText, findTimeUs, toObject, toText, unpackJson } from '../loose-values.ts';
import type { ImportedMessage, ImportNotes, SourceValue, TrafficFormat } from '../message.ts';

/** A JSON-RPC message in a line of a log, with the facts of the line around it. */
interface Logged {
  readonly rpc: JsonObject;
  readonly where: string;
  readonly atUs: number | undefined;
  /** The line's label for the direction, whatever its meaning. */
  readonly label: string | undefined;
  /** Sender and recipient, if the line names them. */
  readonly ends: { readonly from: string; readonly to: string } | undefined;
  readonly session: string;
  /** The session, if the line names it. */
  readonly namedSession: string | undefined;
  readonly server: string | undefined;
}

const DIRECTION_KEYS = ['direction', 'dir', 'sender', 'side', 'source', 'origin', 'flow', 'kind', 'type'];
const SESSION_KEYS = [
  'session_id',
  'sessionId',
  'session',
  'conversation_id',
  'connection',
  'conn_id',
  'trace_id',
];
/** Keys in `_meta`, since the revision of 2026-07-28. */
const CLIENT_INFO = 'io.modelcontextprotocol/clientInfo';
const SERVER_INFO = 'io.modelcontextprotocol/serverInfo';
const SERVER_KEYS = ['server_label', 'server_name', 'serverName', 'server'];

/**
 * Imports logs of JSON-RPC 2.0 as used by MCP and A2A: one message per line, by itself or below any key of an object with time
 * and direction, as proxies write them; batches; or pairs of request and response. The JSON-RPC envelope is dropped, since an
 * adapter writes its own: the packet's type is the method, and its payload the `params` or the `result`.
 */
const importJsonRpc: TrafficFormat['read'] = (values, notes) => {
  const logged = values.flatMap((value) => parseLogged(value, notes));
  const sideOf = createSideFinder(logged);
  const namesOf = createNameFinder(logged);
  const pending = new PendingRequests();
  const contexts = new Map<string, string>();
  const messages: ImportedMessage[] = [];
  for (const entry of logged) {
    const { rpc, session } = entry;
    const id = rpc.id === undefined || rpc.id === null ? undefined : JSON.stringify(rpc.id);
    const method = toText(rpc.method);
    let side = sideOf(entry);
    if (method === undefined && side === undefined) {
      // A response comes from the opposite side of its request.
      const asked = (['client', 'server'] as const).find((asker) => pending.find(entry, asker, id));
      side = asked === undefined ? undefined : swapSide(asked);
    }
    if (side === undefined) {
      side =
        (method === undefined ? undefined : findMethodSide(method)) ??
        (method === undefined ? 'server' : 'client');
      if (entry.ends === undefined)
        notes.guess('senders of messages, taken from their methods', method ?? entry.where);
    }
    const own = namesOf(entry);
    const ends = entry.ends ?? { from: own[side], to: own[swapSide(side)] };
    dropEnvelope(rpc, notes);
    if (method !== undefined) {
      const params = toObject(rpc.params) ?? {};
      const message: ImportedMessage = {
        ...ends,
        atUs: entry.atUs,
        task: findContext(params, contexts) ?? session,
        type: method,
        payload: rpc.params ?? {},
      };
      messages.push(message);
      if (id !== undefined) pending.add(entry, side, id, { message, method });
      continue;
    }
    const request = pending.find(entry, swapSide(side), id);
    if (request === undefined) {
      notes.guess(
        'tasks of responses whose requests are not in the file, or may be one of several',
        entry.where,
      );
    }
    const result = rpc.error === undefined ? (rpc.result ?? {}) : { error: rpc.error };
    const context = learnContext(toObject(rpc.result) ?? {}, contexts);
    messages.push({
      ...ends,
      atUs: entry.atUs,
      task: request?.message.task ?? context ?? session,
      type: `${request?.method ?? 'response'}.${rpc.error === undefined ? 'result' : 'error'}`,
      payload: result,
      answers: request?.message,
    });
    // The request stays pending, because a stream answers it more than once.
  }
  return messages;
};

interface PendingRequest {
  readonly message: ImportedMessage;
  readonly method: string;
}

/** Maximum requests of one id that are compared; ids repeat in as many sessions as a log has. */
const MAX_COMPARED = 1000;

/**
 * Requests that wait for their responses. Connections count their ids from the same number, so that a response belongs to the
 * request of its session, server and ends. A line that does not name all of them gets the only request that it may answer.
 */
class PendingRequests {
  readonly #exact = new Map<string, PendingRequest>();
  readonly #byId = new Map<string, { readonly entry: Logged; readonly request: PendingRequest }[]>();

  add(entry: Logged, side: Side, id: string, request: PendingRequest): void {
    this.#exact.set(joinConnectionKey(entry, side, id), request);
    const same = this.#byId.get(`${side} ${id}`) ?? [];
    this.#byId.set(`${side} ${id}`, same);
    if (same.length <= MAX_COMPARED) same.push({ entry, request });
  }

  find(entry: Logged, side: Side, id: string | undefined): PendingRequest | undefined {
    if (id === undefined) return undefined;
    const exact = this.#exact.get(joinConnectionKey(entry, side, id));
    if (exact !== undefined) return exact;
    const same = this.#byId.get(`${side} ${id}`) ?? [];
    if (same.length > MAX_COMPARED) return undefined;
    const [only, ...others] = same.filter((each) => mayShareConnection(each.entry, entry));
    return others.length === 0 ? only?.request : undefined;
  }
}

function joinConnectionKey({ session, server, ends }: Logged, side: Side, id: string): string {
  const pair = ends === undefined ? [] : [ends.from, ends.to].sort();
  return JSON.stringify([session, server, pair, side, id]);
}

/** Returns false for messages whose lines name different sessions, servers or ends. */
function mayShareConnection(one: Logged, other: Logged): boolean {
  const isEqual = (a: string | undefined, b: string | undefined) => {
    return a === undefined || b === undefined || a === b;
  };
  const pair = ({ ends }: Logged) => ends && [ends.from, ends.to].sort().join(' ');
  return (
    isEqual(one.namedSession, other.namedSession) &&
    isEqual(one.server, other.server) &&
    isEqual(pair(one), pair(other))
  );
}

function swapSide(side: Side): Side {
  return side === 'client' ? 'server' : 'client';
}

/** Returns all messages of a line: the line itself, or the values of its keys. */
function parseLogged({ value, where }: SourceValue, notes: ImportNotes): Logged[] {
  const line = toObject(value);
  const around = line === undefined || isRpc(line) ? {} : line;
  const found = findRpcs(value);
  if (found.length === 0) {
    notes.drop('lines without a message of JSON-RPC', where);
    return [];
  }
  const from = toText(around.from);
  const to = toText(around.to);
  const namedSession = findText(around, SESSION_KEYS);
  const server = findText(around, SERVER_KEYS);
  const startUs = findTimeUs(around);
  const durationMs = Number(around.duration_ms ?? around.durationMs ?? around.latency_ms ?? 0) || 0;
  // A request and its response in one line get the line's time, and that time plus the duration.
  const isPair = found.length === 2 && found.some(({ method }) => method === undefined);
  return found.map((rpc, index) => {
    const isAnswer = isPair && index === 1;
    const ends = from === undefined || to === undefined ? undefined : { from, to };
    return {
      rpc,
      where,
      atUs: startUs === undefined ? undefined : startUs + (isAnswer ? durationMs * 1000 : 0),
      label: isPair ? undefined : findText(around, DIRECTION_KEYS),
      ends: ends !== undefined && isAnswer ? { from: ends.to, to: ends.from } : ends,
      session: namedSession ?? server ?? 'session',
      namedSession,
      server,
    };
  });
}

function findRpcs(value: unknown): JsonObject[] {
  const whole = readBatch(value);
  if (whole.length > 0) return whole;
  const line = toObject(value);
  if (line === undefined) return [];
  // Put requests before responses, whatever the order of the keys.
  return Object.values(line)
    .flatMap((inner) => readBatch(unpackJson(inner)))
    .toSorted((a, b) => Number(a.method === undefined) - Number(b.method === undefined));
}

/** Returns a message, or the messages of a batch; empty for anything else. */
function readBatch(value: unknown): JsonObject[] {
  const items: readonly unknown[] = Array.isArray(value) ? value : [value];
  const messages = items.map(toObject).filter((item) => item !== undefined && isRpc(item));
  return messages.length === items.length ? messages.filter((message) => message !== undefined) : [];
}

/** Tells if `object` is a message of JSON-RPC 2.0. */
function isRpc(object: JsonObject): boolean {
  if (object.jsonrpc !== '2.0') return false;
  return typeof object.method === 'string' || 'result' in object || 'error' in object;
}

/** A2A comes first, since a file of it is one of JSON-RPC, too. */
export const jsonRpcFormats: readonly TrafficFormat[] = [
  {
    name: 'a2a',
    about: 'JSON-RPC of A2A',
    read: importJsonRpc,
    findSign: (value) => {
      const methods = findRpcs(value).flatMap(({ method }) => toText(method) ?? []);
      return methods.find((method) => A2A_METHODS.test(method));
    },
  },
  {
    name: 'mcp',
    about: 'JSON-RPC of MCP',
    read: importJsonRpc,
    findSign: (value) => (findRpcs(value).length > 0 ? 'jsonrpc' : undefined),
  },
];

/**
 * Infers the meaning of a log's direction labels: a label is the client's if more of its messages have methods that only clients
 * send. A label that occurs with both kinds, such as `request`, is not a direction.
 */
function createSideFinder(logged: readonly Logged[]): (entry: Logged) => Side | undefined {
  const votes = new Map<string, Record<Side, number>>();
  for (const { label, rpc } of logged) {
    if (label === undefined) continue;
    const count = votes.get(label) ?? { client: 0, server: 0 };
    votes.set(label, count);
    const side = typeof rpc.method === 'string' ? findMethodSide(rpc.method) : undefined;
    if (side !== undefined) count[side] += 1;
  }
  const isMixed = [...votes.values()].some(({ client, server }) => client > 0 && server > 0);
  const labels = [...votes];
  const client = labels.find(([, count]) => count.client > 0)?.[0];
  if (isMixed || client === undefined || labels.length > 2) return () => undefined;
  return ({ label }) => (label === undefined ? undefined : label === client ? 'client' : 'server');
}

/** Finds the names by which client and server introduce themselves in MCP, by session: both send theirs in the first exchange. */
function createNameFinder(logged: readonly Logged[]): (entry: Logged) => Record<Side, string> {
  const names = new Map<string, Record<Side, string>>();
  for (const { session, server, rpc } of logged) {
    const key = JSON.stringify([session, server]);
    const own = names.get(key) ?? { client: 'client', server: server ?? 'server' };
    names.set(key, own);
    const [params, result] = [toObject(rpc.params), toObject(rpc.result)];
    const client = toObject(params?.clientInfo) ?? toObject(toObject(params?._meta)?.[CLIENT_INFO]);
    const served = toObject(result?.serverInfo) ?? toObject(toObject(result?._meta)?.[SERVER_INFO]);
    own.client = own.client === 'client' ? (toText(client?.name) ?? own.client) : own.client;
    own.server = own.server === 'server' ? (toText(served?.name) ?? own.server) : own.server;
  }
  return ({ session, server }) =>
    names.get(JSON.stringify([session, server])) ?? { client: 'client', server: 'server' };
}

/** Finds the context of an A2A request: a message names it, and a task keeps it. */
function findContext(params: JsonObject, contexts: ReadonlyMap<string, string>): string | undefined {
  const message = toObject(params.message);
  const task = toText(params.id) ?? toText(params.taskId) ?? toText(message?.taskId);
  return toText(message?.contextId) ?? (task === undefined ? undefined : contexts.get(task));
}

function learnContext(result: JsonObject, contexts: Map<string, string>): string | undefined {
  const task = toObject(result.task) ?? result;
  const id = toText(task.id) ?? toText(task.taskId);
  const context = toText(task.contextId);
  if (id !== undefined && context !== undefined) contexts.set(id, context);
  return context;
}

function dropEnvelope(rpc: JsonObject, notes: ImportNotes): void {
  const { params: _params, result: _result, error: _error, ...envelope } = rpc;
  const bytes = Buffer.byteLength(JSON.stringify(envelope));
  notes.drop("bytes of JSON-RPC's envelopes, since an adapter writes its own", undefined, bytes);
}

/** The end of a connection that sent a message. */
type Side = 'client' | 'server';

/** Methods that only MCP servers send, revisions 2024-11-05 to 2026-07-28 (schema.ts: ServerRequest and ServerNotification). */
const SERVER_METHODS = new Set([
  'sampling/createMessage',
  'roots/list',
  'elicitation/create',
  'notifications/message',
  'notifications/resources/updated',
  'notifications/resources/list_changed',
  'notifications/tools/list_changed',
  'notifications/prompts/list_changed',
  'notifications/elicitation/complete',
]);

/** Methods that both ends of MCP send. */
const EITHER = new Set([
  'ping',
  'notifications/progress',
  'notifications/cancelled',
  'notifications/tasks/status',
]);

/** Methods of A2A's JSON-RPC binding, 0.3 (`message/send`) and 1.0 (`SendMessage`), section 9 of the specification. */
const A2A_METHODS =
  /^(?:message\/(?:send|stream)|tasks\/(?:resubscribe|pushNotificationConfig\/.+)|agent\/.+|SendMessage|SendStreamingMessage|GetTask|ListTasks|CancelTask|SubscribeToTask|TaskSubscription|GetExtendedAgentCard|GetAgentCard|(?:Create|Get|List|Delete|Set)TaskPushNotificationConfigs?)$/;

/** Returns the side that sends `method`; undefined if both do. */
function findMethodSide(method: string): Side | undefined {
  if (EITHER.has(method)) return undefined;
  return SERVER_METHODS.has(method) ? 'server' : 'client';
}
