import {
  isJsonList,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '@gaia-mesh/core/contracts/packet.ts';
import type { AgentCard, AgentInterface } from '../card.ts';
import { isSettled } from '../model.ts';

/**
 * This module converts between A2A 1.0 and 0.3, which most public agents and clients still speak: requests in both
 * directions, and our own answers and cards. `foreign/agent-reply.ts` reads the answers of foreign agents.
 */

/** JSON-RPC methods of 0.3, by their operations in 1.0. `ListTasks` has none. */
const METHODS: ReadonlyMap<string, string> = new Map([
  ['SendMessage', 'message/send'],
  ['SendStreamingMessage', 'message/stream'],
  ['GetTask', 'tasks/get'],
  ['SubscribeToTask', 'tasks/resubscribe'],
  ['CancelTask', 'tasks/cancel'],
  ['CreateTaskPushNotificationConfig', 'tasks/pushNotificationConfig/set'],
  ['GetTaskPushNotificationConfig', 'tasks/pushNotificationConfig/get'],
  ['ListTaskPushNotificationConfigs', 'tasks/pushNotificationConfig/list'],
  ['DeleteTaskPushNotificationConfig', 'tasks/pushNotificationConfig/delete'],
  ['GetExtendedAgentCard', 'agent/getAuthenticatedExtendedCard'],
]);
const OPERATIONS: ReadonlyMap<string, string> = new Map([...METHODS].map(([name, method]) => [method, name]));

/** Returns true for a client of 0.3, which mostly states no version (§3.6.2). */
function isVersion(version: unknown): boolean {
  return version === undefined || version === '' || /^0\.[23](?:\.|$)/.test(String(version));
}

/** Converts a request of 1.0 to one of 0.3. */
function writeRequest({ method, params }: { readonly method: string; readonly params: object }) {
  return { method: METHODS.get(method), params: writeParams(params) };
}

function writeParams(params: unknown): unknown {
  if (!isJsonObject(params) || params.message === undefined) return params;
  const { message, configuration, ...others } = params;
  const { returnImmediately, taskPushNotificationConfig, ...rest } = readMembers(configuration);
  return {
    ...others,
    message: writeMessage(message),
    configuration: {
      ...rest,
      blocking: returnImmediately === undefined ? undefined : returnImmediately !== true,
      pushNotificationConfig: taskPushNotificationConfig && writePushConfig(taskPushNotificationConfig),
    },
  };
}

/** A request that is answered by an operation of 1.0. */
interface Call {
  readonly operation: string;
  readonly params: unknown;
  /** Returns an answer or event of the operation as the client reads it. */
  readonly write: (answer: object) => unknown;
}

/** Converts a request of a client of 0.3; returns undefined for any other request. */
function readCall(method: string, params: unknown, version: unknown): Call | undefined {
  const operation = isVersion(version) ? OPERATIONS.get(method) : undefined;
  if (operation === undefined) return undefined;
  return {
    operation,
    params: isJsonObject(params) ? readParams(operation, params) : params,
    write: (answer) => writeAnswer(operation, answer),
  };
}

function readParams(operation: string, params: JsonObject): unknown {
  const { message, configuration, pushNotificationConfig, pushNotificationConfigId, ...others } =
    readMembers(params);
  switch (operation) {
    case 'SendMessage':
    case 'SendStreamingMessage':
      return { ...others, message: readMessage(message), configuration: readConfiguration(configuration) };
    case 'CreateTaskPushNotificationConfig': {
      const { taskId } = others;
      return { id: taskId, ...readPushConfig(pushNotificationConfig), taskId };
    }
    case 'GetTaskPushNotificationConfig':
    case 'ListTaskPushNotificationConfigs':
    case 'DeleteTaskPushNotificationConfig':
      // In 0.3 a task's only webhook may be without an id, and has that of the task.
      return { taskId: others.id, id: pushNotificationConfigId ?? others.id };
    default:
      return others;
  }
}

/** Returns the members of an object; null counts as absent. */
function readMembers(value: JsonValue | undefined): Readonly<Record<string, JsonValue | undefined>> {
  if (!isJsonObject(value)) return {};
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null));
}

function readMessage(value: JsonValue | undefined): unknown {
  if (!isJsonObject(value)) return value;
  const { kind: _kind, role, parts, ...others } = readMembers(value);
  return {
    ...others,
    role: typeof role === 'string' && /^(?:user|agent)$/.test(role) ? `ROLE_${role.toUpperCase()}` : role,
    parts: mapList(parts, (part) => (isJsonObject(part) ? readPart(part) : part)),
  };
}

/** Reads a part of 0.3; one of 1.0 stays as it is. */
function readPart({ kind: _kind, file, ...part }: JsonObject): JsonObject {
  const own: Record<string, JsonValue> = {};
  for (const [key, member] of Object.entries(part)) if (member !== null) own[key] = member;
  if (!isJsonObject(file)) return own;
  if (typeof file.bytes === 'string') own.raw = file.bytes;
  else if (typeof file.uri === 'string') own.url = file.uri;
  if (typeof file.name === 'string') own.filename = file.name;
  if (typeof file.mimeType === 'string') own.mediaType = file.mimeType;
  return own;
}

function readConfiguration(value: JsonValue | undefined): unknown {
  if (!isJsonObject(value)) return value;
  const { blocking, pushNotificationConfig, ...others } = readMembers(value);
  const taskPushNotificationConfig = pushNotificationConfig && readPushConfig(pushNotificationConfig);
  return { ...others, returnImmediately: blocking === false, taskPushNotificationConfig };
}

/** Reads a webhook of 0.3, which has a list of schemes, and gets its events in the forms of 0.3. */
function readPushConfig(value: JsonValue | undefined): object {
  const { authentication, ...config } = readMembers(value);
  const { schemes, credentials } = readMembers(authentication);
  const scheme = isJsonList(schemes) ? schemes[0] : undefined;
  return {
    ...config,
    protocolVersion: '0.3',
    authentication: scheme === undefined ? undefined : { scheme, credentials },
  };
}

function writePushConfig(value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  const { taskId: _taskId, authentication, ...config } = value;
  const { scheme, credentials } = readMembers(authentication);
  return {
    ...config,
    authentication: scheme === undefined ? undefined : { schemes: [scheme], credentials },
  };
}

function writeAnswer(operation: string, answer: object): unknown {
  const writeOwned = (config: unknown) => ({
    taskId: isJsonObject(config) ? config.taskId : undefined,
    pushNotificationConfig: writePushConfig(config),
  });
  switch (operation) {
    case 'CreateTaskPushNotificationConfig':
    case 'GetTaskPushNotificationConfig':
      return writeOwned(answer);
    case 'ListTaskPushNotificationConfigs':
      return 'configs' in answer ? mapList(answer.configs, writeOwned) : [];
    case 'DeleteTaskPushNotificationConfig':
      return null;
    default:
      return writeEvent(answer);
  }
}

/** Converts a task, a message or an event to the form of 0.3, which names it by its `kind`. */
function writeEvent(event: object): unknown {
  if ('message' in event) return writeMessage(event.message);
  if ('artifactUpdate' in event) return writeObject(event.artifactUpdate, { kind: 'artifact-update' });
  if (!('statusUpdate' in event)) return writeObject('task' in event ? event.task : event, { kind: 'task' });
  const { statusUpdate } = event;
  const status = isJsonObject(statusUpdate) ? statusUpdate.status : undefined;
  const final = isJsonObject(status) && isSettled(String(status.state));
  return writeObject(statusUpdate, { kind: 'status-update', final });
}

/** The members of 1.0 that differ in 0.3 each have a writer here. */
const WRITERS: ReadonlyMap<string, (member: unknown) => unknown> = new Map<
  string,
  (member: unknown) => unknown
>([
  ['message', writeMessage],
  ['status', (status) => writeObject(status)],
  ['artifact', (artifact) => writeObject(artifact)],
  ['artifacts', (all) => mapList(all, (one) => writeObject(one))],
  ['history', (all) => mapList(all, writeMessage)],
  ['parts', (all) => mapList(all, writePart)],
  ['role', (role) => (role === 'ROLE_USER' ? 'user' : 'agent')],
  ['state', writeState],
]);

function writeObject(value: unknown, more: object = {}): unknown {
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).map(([key, member]) => {
    const write = WRITERS.get(key);
    return [key, write === undefined ? member : write(member)] as const;
  });
  return { ...Object.fromEntries(members), ...more };
}

function writeMessage(value: unknown): unknown {
  return writeObject(value, { kind: 'message' });
}

/** 0.3 writes `input-required` for `TASK_STATE_INPUT_REQUIRED`. */
function writeState(state: unknown): string {
  return String(state)
    .replace(/^TASK_STATE_/, '')
    .toLowerCase()
    .replaceAll('_', '-');
}

/** Writes a part; in 0.3 a text has neither a name nor a type, and data is an object. */
function writePart(part: unknown): unknown {
  if (!isJsonObject(part)) return part;
  const { text, raw, url, data, filename, mediaType, metadata } = part;
  if (text !== undefined) return { kind: 'text', text, metadata };
  if (data !== undefined)
    return { kind: 'data', data: isJsonObject(data) ? data : { value: data }, metadata };
  const file = { bytes: raw, uri: url, name: filename || undefined, mimeType: mediaType || undefined };
  return { kind: 'file', file, metadata };
}

function mapList(value: unknown, write: (item: unknown) => unknown): unknown {
  return Array.isArray(value) ? value.map((item: unknown) => write(item)) : value;
}

/**
 * Formats the agent card with the members of 1.0 and those that clients of 0.3 read. Readers ignore what they do not
 * know (§5.7), and the card for clients that state 1.0 is without it.
 */
function formatCard(card: AgentCard, supportedInterfaces: readonly AgentInterface[]): string {
  const own = supportedInterfaces.filter(({ protocolVersion }) => isVersion(protocolVersion));
  return JSON.stringify({
    supportedInterfaces,
    ...card,
    protocolVersion: '0.3.0',
    url: own[0]?.url,
    preferredTransport: own[0]?.protocolBinding,
    additionalInterfaces: own.map(({ url, protocolBinding }) => ({ url, transport: protocolBinding })),
    securitySchemes:
      card.securitySchemes &&
      Object.fromEntries(
        Object.entries(card.securitySchemes).map(([name, scheme]) => [name, addLegacyScheme(scheme)]),
      ),
    security: card.securityRequirements?.map(writeRequirement),
  });
}

/** Adds the members by which clients of 0.3 recognize a scheme. */
function addLegacyScheme(scheme: object): object {
  return 'httpAuthSecurityScheme' in scheme && isJsonObject(scheme.httpAuthSecurityScheme)
    ? { ...scheme, ...scheme.httpAuthSecurityScheme, type: 'http' }
    : scheme;
}

function writeRequirement(requirement: object): object {
  const schemes = 'schemes' in requirement && isJsonObject(requirement.schemes) ? requirement.schemes : {};
  return Object.fromEntries(
    Object.entries(schemes).map(([name, scopes]) => [name, isJsonObject(scopes) ? scopes.list : []]),
  );
}

/** These functions read and write 0.3 in the forms of 1.0, which all other modules have. */
export const legacy = { isVersion, writeRequest, readCall, readPart, writeEvent, formatCard } as const;
