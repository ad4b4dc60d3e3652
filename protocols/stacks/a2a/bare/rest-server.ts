import type { IncomingMessage, ServerResponse } from 'node:http';
import { messageOf } from '@gaia-mesh/core/contracts/errors.ts';
import { writeEvents, writeLast } from '../../http/event-stream.ts';
import { bodyOf, writeJson } from '../../http/http-server.ts';
import type { A2aAgent } from '../agent/agent.ts';
import { errorInfoOf, faultError, faultOf } from '../agent/faults.ts';
import { checkContentType, checkVersion, parsed } from './http-requests.ts';

/** An operation by its URL (§11.3); what stands in the path is a parameter like those of the query or the body. */
interface Route {
  readonly verb: string;
  readonly path: RegExp;
  readonly operation: string;
  readonly isStream?: boolean;
}

const CONFIGS = '/tasks/(?<taskId>[^/:]+)/pushNotificationConfigs';
const CONFIG = `${CONFIGS}/(?<id>[^/:]+)`;
const route = (verb: string, path: string, operation: string, isStream = false): Route => ({
  ...{ verb, path: new RegExp(`^${path}$`), operation, isStream },
});
const routes: readonly Route[] = [
  route('POST', '/message:send', 'SendMessage'),
  route('POST', '/message:stream', 'SendStreamingMessage', true),
  route('GET', '/tasks', 'ListTasks'),
  route('GET', '/tasks/(?<id>[^/:]+)', 'GetTask'),
  route('POST', '/tasks/(?<id>[^/:]+):cancel', 'CancelTask'),
  route('POST', '/tasks/(?<id>[^/:]+):subscribe', 'SubscribeToTask', true),
  route('GET', '/tasks/(?<id>[^/:]+):subscribe', 'SubscribeToTask', true),
  route('POST', CONFIGS, 'CreateTaskPushNotificationConfig'),
  route('GET', CONFIGS, 'ListTaskPushNotificationConfigs'),
  route('GET', CONFIG, 'GetTaskPushNotificationConfig'),
  route('DELETE', CONFIG, 'DeleteTaskPushNotificationConfig'),
  route('GET', '/extendedAgentCard', 'GetExtendedAgentCard'),
];

/** The HTTP+JSON stack of A2A (§11). `path` is the URL's behind the address of the interface, with its query. */
export async function serveRest(
  agent: A2aAgent,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    const { pathname, searchParams } = new URL(path, 'http://localhost');
    const body = await bodyOf(request, agent.maxBodyBytes);
    const found = routes.flatMap(({ path: pattern, ...rest }) => {
      const match = rest.verb === request.method ? pattern.exec(pathname) : null;
      return match === null ? [] : [{ ...rest, inPath: decoded(match.groups ?? {}) }];
    })[0];
    if (found === undefined)
      throw faultError('methodNotFound', `no operation at ${request.method} ${pathname}`);
    if (body.length > 0) checkContentType(request);
    checkVersion(request.headers['a2a-version']);
    const inBody = body.length === 0 ? {} : parsed(body);
    if (typeof inBody !== 'object' || inBody === null || Array.isArray(inBody))
      throw faultError('invalidRequest', 'expected an object as the body');
    const params = { ...queryOf(searchParams), ...inBody, ...found.inPath };
    if (found.isStream === true) {
      await writeEvents(response, textsOf(agent.stream(found.operation, params)));
      return;
    }
    writeJson(response, 200, JSON.stringify(await agent.call(found.operation, params)));
  } catch (error) {
    const fault = faultOf(error);
    const { httpStatus: code, grpc } = fault;
    const failure = { code, status: grpc[1], message: messageOf(error), details: errorInfoOf(fault) };
    const text = JSON.stringify({ error: failure });
    writeLast(response, code, text);
  }
}

async function* textsOf(events: AsyncIterable<object>) {
  for await (const event of events) yield JSON.stringify(event);
}

function decoded(groups: Readonly<Record<string, string>>): Record<string, string> {
  try {
    return Object.fromEntries(
      Object.entries(groups).map(([name, value]) => [name, decodeURIComponent(value)]),
    );
  } catch {
    throw faultError('invalidRequest', 'the path is no URL');
  }
}

/** Query parameters are texts (§11.5); those that are numbers or truth values in the operation become that. */
function queryOf(query: URLSearchParams): Record<string, unknown> {
  const params: Record<string, unknown> = {};
  for (const [name, value] of query) {
    if (name === 'pageSize' || name === 'historyLength') params[name] = Number(value);
    else if (name === 'includeArtifacts') params[name] = value === 'true';
    else params[name] = value;
  }
  return params;
}
