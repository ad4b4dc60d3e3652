import type { IncomingMessage, ServerResponse } from 'node:http';
import { toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { MAX_MESSAGE_DEPTH } from '@gaia-mesh/core/contracts/limits.ts';
import { writeEvents, writeLast } from '../../http/event-stream.ts';
import { readRequestBody, writeJson } from '../../http/http-server.ts';
import type { A2aAgent } from '../agent/agent.ts';
import { buildErrorInfo, createFaultError, toFault } from '../agent/faults.ts';
import { encodeAnswer } from '../agent/task.ts';
import { JSON_RPC_PATH } from '../interfaces.ts';
import { checkContentType, checkVersion, parseBody } from './http-requests.ts';

/** An operation by its URL (§11.3); values in the path are parameters like those of the query or the body. */
interface Route {
  readonly verb: string;
  readonly path: RegExp;
  readonly operation: string;
  readonly isStream?: boolean;
}

const CONFIGS = '/tasks/(?<taskId>[^/:]+)/pushNotificationConfigs';
const CONFIG = `${CONFIGS}/(?<id>[^/:]+)`;
const createRoute = (verb: string, path: string, operation: string, isStream = false): Route => ({
  verb,
  path: new RegExp(`^${path}$`),
  operation,
  isStream,
});
const routes: readonly Route[] = [
  createRoute('POST', '/message:send', 'SendMessage'),
  createRoute('POST', '/message:stream', 'SendStreamingMessage', true),
  createRoute('GET', '/tasks', 'ListTasks'),
  createRoute('GET', '/tasks/(?<id>[^/:]+)', 'GetTask'),
  createRoute('POST', '/tasks/(?<id>[^/:]+):cancel', 'CancelTask'),
  createRoute('POST', '/tasks/(?<id>[^/:]+):subscribe', 'SubscribeToTask', true),
  createRoute('GET', '/tasks/(?<id>[^/:]+):subscribe', 'SubscribeToTask', true),
  createRoute('POST', CONFIGS, 'CreateTaskPushNotificationConfig'),
  createRoute('GET', CONFIGS, 'ListTaskPushNotificationConfigs'),
  createRoute('GET', CONFIG, 'GetTaskPushNotificationConfig'),
  createRoute('DELETE', CONFIG, 'DeleteTaskPushNotificationConfig'),
  createRoute('GET', '/extendedAgentCard', 'GetExtendedAgentCard'),
];

/**
 * Serves the HTTP+JSON stack of A2A (§11). `path` is the URL's part behind the address of the interface, with
 * its query.
 */
export async function serveRest(
  agent: A2aAgent,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    const { pathname, searchParams } = new URL(path, 'http://localhost');
    const body = await readRequestBody(request, response, { most: agent.maxBodyBytes, kept: agent.kept });
    if (body === undefined) return;
    const found = routes.flatMap(({ path: pattern, ...rest }) => {
      const match = rest.verb === request.method ? pattern.exec(pathname) : null;
      return match === null ? [] : [{ ...rest, inPath: decodeGroups(match.groups ?? {}) }];
    })[0];
    // The operations of 0.3 were below this path.
    if (found === undefined && pathname.startsWith('/v1/'))
      throw createFaultError(
        'versionNotSupported',
        `REST of A2A 0.3 is not served: use JSON-RPC at ${JSON_RPC_PATH}, or A2A 1.0`,
      );
    if (found === undefined)
      throw createFaultError('methodNotFound', `no operation at ${request.method} ${pathname}`);
    if (body.length > 0) checkContentType(request);
    checkVersion(request.headers['a2a-version']);
    const inBody = body.length === 0 ? {} : parseBody(body, agent);
    if (typeof inBody !== 'object' || inBody === null || Array.isArray(inBody))
      throw createFaultError('invalidRequest', 'expected an object as the body');
    const params = { ...parseQuery(searchParams), ...inBody, ...found.inPath };
    if (found.isStream === true) {
      await writeEvents(response, formatEvents(agent.stream(found.operation, params, response)));
      return;
    }
    const result = await agent.call(found.operation, params);
    const text = encodeAnswer(result, (written) => JSON.stringify(written), MAX_MESSAGE_DEPTH);
    agent.kept?.holdUntilSent(text.length, response);
    writeJson(response, 200, text);
  } catch (error) {
    const fault = toFault(error);
    const { httpStatus: code, grpc } = fault;
    const failure = { code, status: grpc[1], message: toErrorMessage(error), details: buildErrorInfo(fault) };
    const text = JSON.stringify({ error: failure });
    writeLast(response, code, text);
  }
}

async function* formatEvents(events: AsyncIterable<object>) {
  for await (const event of events) yield JSON.stringify(event);
}

function decodeGroups(groups: Readonly<Record<string, string>>): Record<string, string> {
  try {
    return Object.fromEntries(
      Object.entries(groups).map(([name, value]) => [name, decodeURIComponent(value)]),
    );
  } catch {
    throw createFaultError('invalidRequest', 'the path is not a URL');
  }
}

/** Parses query parameters, which are texts (§11.5), to numbers or booleans where the operation has these. */
function parseQuery(query: URLSearchParams): Record<string, unknown> {
  const params: Record<string, unknown> = {};
  for (const [name, value] of query) {
    if (name === 'pageSize' || name === 'historyLength') params[name] = Number(value);
    else if (name === 'includeArtifacts') params[name] = value === 'true';
    else params[name] = value;
  }
  return params;
}
