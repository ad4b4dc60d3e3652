import type { StreamResponse } from '@a2a-js/sdk';
import type { PushNotificationSender, PushNotificationStore, ServerCallContext } from '@a2a-js/sdk/server';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { MAX_FRAME_BYTES } from '@gaia-mesh/core/contracts/limits.ts';
import type { StackSettings } from '../../contract/stack.ts';
import { type HttpServer, listenHttp } from '../../http/http-server.ts';
import { createPooledFetch } from '../../http/undici-fetch.ts';
import type { AgentCard } from '../agent/agent.ts';
import { type AgentInterface, CARD_PATH, JSON_RPC_PATH, REST_PATH } from '../interfaces.ts';
import type { AgentWork } from '../work.ts';
import { WorkExecutor } from './executor.ts';
import { loadExpress, loadSdk, type Sdk } from './sdk.ts';

/** Maximum bytes of a body in express; the SDK does not pass on an option for it. */
const EXPRESS_LIMIT_BYTES = 100 * 1024;

/** An agent of the SDK, without a transport. */
export interface SdkAgent {
  readonly sdk: Sdk;
  readonly handler: InstanceType<Sdk['server']['DefaultRequestHandler']>;
  /** Sets the interfaces of the card, which is served in this form from then on. */
  setInterfaces(interfaces: readonly AgentInterface[]): void;
  close(): Promise<void>;
}

export async function createSdkAgent(
  purpose: string,
  card: AgentCard,
  work: AgentWork,
  settings: StackSettings,
  clock = () => new Date(),
): Promise<SdkAgent> {
  const sdk = await loadSdk(purpose);
  const { server, model } = sdk;
  const pool = createPooledFetch(settings);
  const executor = new WorkExecutor(sdk, work, clock);
  const webhooks = new server.InMemoryPushNotificationStore();
  const sdkCard = model.AgentCard.fromJSON(card);
  const handler = new server.DefaultRequestHandler(
    sdkCard,
    new server.InMemoryTaskStore(),
    executor,
    new server.DefaultExecutionEventBusManager(),
    webhooks,
    new PooledPushSender(sdk, webhooks, pool.fetch),
    undefined,
    undefined,
    { validateInputModes: true },
  );
  return {
    sdk,
    handler,
    setInterfaces(interfaces) {
      sdkCard.supportedInterfaces = interfaces.map((each) => ({ ...each, tenant: '' }));
    },
    async close() {
      executor.close();
      await pool.close();
    },
  };
}

/** Serves the card, JSON-RPC and REST of an agent by the SDK's handlers for express, on one port. */
export async function serveSdkHttp(
  purpose: string,
  { handler: requestHandler }: SdkAgent,
  settings: StackSettings,
): Promise<HttpServer> {
  const { express, handlers } = await loadExpress(purpose);
  const userBuilder = handlers.UserBuilder.noAuthentication;
  const app = express();
  const large = express.json({ limit: MAX_FRAME_BYTES, type: ['application/json', 'application/a2a+json'] });
  app.use((request, response, next) => {
    if (Number(request.headers['content-length']) > EXPRESS_LIMIT_BYTES) large(request, response, next);
    else next();
  });
  app.use(CARD_PATH, handlers.agentCardHandler({ agentCardProvider: requestHandler }));
  app.use(JSON_RPC_PATH, handlers.jsonRpcHandler({ requestHandler, userBuilder }));
  app.use(REST_PATH, handlers.restHandler({ requestHandler, userBuilder }));
  return listenHttp(app, settings);
}

/** Maximum wait for a webhook, the same as that of the SDK's own sender. */
const TIMEOUT_MS = 5_000;

/**
 * Calls webhooks in place of the SDK's sender, which uses the process's `fetch` (no pool, no certificate of
 * the session's) and prints a line for each event. The body is the SDK's; events of a task go one after the
 * other, as with its sender.
 */
class PooledPushSender implements PushNotificationSender {
  readonly #sdk: Sdk;
  readonly #store: PushNotificationStore;
  readonly #fetch: typeof fetch;
  readonly #sent = new Map<string, Promise<void>>();

  constructor(sdk: Sdk, store: PushNotificationStore, own: typeof fetch) {
    this.#sdk = sdk;
    this.#store = store;
    this.#fetch = own;
  }

  async send(event: StreamResponse, context: ServerCallContext): Promise<void> {
    const taskId = readTaskId(event);
    const configs = await this.#store.load(taskId, context);
    if (configs.length === 0) return;
    const { body, contentType } = new this.#sdk.server.V1PushNotificationSerializer().serialize(event);
    const before = this.#sent.get(taskId) ?? Promise.resolve();
    const sent = before.then(async () => {
      const calls = configs.map(({ url, token, authentication }) => {
        const headers: Record<string, string> = { 'Content-Type': contentType };
        if (authentication !== undefined)
          headers.Authorization = `${authentication.scheme} ${authentication.credentials}`;
        else if (token !== '') headers['X-A2A-Notification-Token'] = token;
        return this.#post(url, body, headers);
      });
      await Promise.allSettled(calls);
    });
    this.#sent.set(taskId, sent);
    await sent;
    if (this.#sent.get(taskId) === sent) this.#sent.delete(taskId);
  }

  async #post(url: string, body: string, headers: Record<string, string>): Promise<void> {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await this.#fetch(url, { method: 'POST', body, headers, signal });
    await response.arrayBuffer();
    if (!response.ok)
      throw new MeshError('agent', `${url}: expected the event to be taken, received ${response.status}`);
  }
}

function readTaskId({ payload }: StreamResponse): string {
  return payload === undefined ? '' : payload.$case === 'task' ? payload.value.id : payload.value.taskId;
}
