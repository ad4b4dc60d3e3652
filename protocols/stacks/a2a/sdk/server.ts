import type { TaskStatus } from '@a2a-js/sdk';
import type { AgentExecutor, ExecutionEventBus, RequestContext } from '@a2a-js/sdk/server';
import { MAX_FRAME_BYTES } from '@gaia-mesh/core/contracts/limits.ts';
import { withPackage } from '@gaia-mesh/core/system/optional-package.ts';
import type { StackSettings } from '../../contract/stack.ts';
import { type HttpServer, listenHttp } from '../../http/http-server.ts';
import type { AgentCard } from '../agent/agent.ts';
import { type AgentInterface, CARD_PATH, PATHS } from '../interfaces.ts';
import { paramsSchemas, parseParams } from '../model.ts';
import type { AgentWork, TaskState, WorkEvent } from '../work.ts';

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
  clock = () => new Date(),
): Promise<SdkAgent> {
  const sdk = await loadSdk(purpose);
  const { server, model } = sdk;
  const executor = new WorkExecutor(sdk, work, clock);
  const sdkCard = model.AgentCard.fromJSON(card);
  const handler = new server.DefaultRequestHandler(
    sdkCard,
    new server.InMemoryTaskStore(),
    executor,
    new server.DefaultExecutionEventBusManager(),
    undefined,
    undefined,
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
  app.use(PATHS.JSONRPC, handlers.jsonRpcHandler({ requestHandler, userBuilder }));
  app.use(PATHS['HTTP+JSON'], handlers.restHandler({ requestHandler, userBuilder }));
  return listenHttp(app, settings);
}

/** Runs an agent's work for the SDK's server: events go to a bus, and the first must be the task or a message. */
class WorkExecutor implements AgentExecutor {
  readonly #sdk: Sdk;
  readonly #work: AgentWork;
  readonly #clock: () => Date;
  readonly #running = new Map<string, { readonly abort: AbortController; readonly contextId: string }>();

  constructor(sdk: Sdk, work: AgentWork, clock: () => Date) {
    this.#sdk = sdk;
    this.#work = work;
    this.#clock = clock;
  }

  async execute(request: RequestContext, bus: ExecutionEventBus): Promise<void> {
    const { taskId, contextId, userMessage, task, context } = request;
    const abort = new AbortController();
    this.#running.set(taskId, { abort, contextId });
    for (const extension of userMessage.extensions) context.addActivatedExtension(extension);
    const { AgentEvent } = this.#sdk.server;
    let isMade = false;
    const emit = (event: WorkEvent) => {
      if (abort.signal.aborted) return; // Events of a cancelled task are dropped.
      if (!isMade && event.kind !== 'message') {
        isMade = true;
        const made = { id: taskId, contextId, artifacts: [], history: [userMessage], metadata: undefined };
        const status = this.#statusOf('TASK_STATE_SUBMITTED');
        bus.publish(AgentEvent.task({ ...(task ?? made), status }));
      }
      this.#publish(bus, event, taskId, contextId);
    };
    try {
      const params = { message: this.#sdk.model.Message.toJSON(userMessage) };
      const { message } = parseParams(paramsSchemas.send, params);
      await this.#work({ message, taskId, contextId, signal: abort.signal }, emit);
    } finally {
      this.#running.delete(taskId);
      bus.finished();
    }
  }

  async cancelTask(taskId: string, bus: ExecutionEventBus): Promise<void> {
    const running = this.#running.get(taskId);
    running?.abort.abort();
    const status = this.#statusOf('TASK_STATE_CANCELED');
    const contextId = running?.contextId ?? '';
    bus.publish(this.#sdk.server.AgentEvent.statusUpdate({ taskId, contextId, status, metadata: undefined }));
    bus.finished();
  }

  /** Aborts all work. */
  close(): void {
    for (const { abort } of this.#running.values()) abort.abort();
  }

  #publish(bus: ExecutionEventBus, event: WorkEvent, taskId: string, contextId: string): void {
    const { AgentEvent } = this.#sdk.server;
    const { Artifact, Message } = this.#sdk.model;
    const rest = { taskId, contextId, metadata: undefined };
    switch (event.kind) {
      case 'message':
        bus.publish(AgentEvent.message({ ...Message.fromJSON(event.message), contextId }));
        return;
      case 'status': {
        const message = event.message === undefined ? undefined : Message.fromJSON(event.message);
        bus.publish(AgentEvent.statusUpdate({ status: this.#statusOf(event.state, message), ...rest }));
        return;
      }
      case 'artifact': {
        const { append = false, lastChunk = false } = event;
        const artifact = Artifact.fromJSON(event.artifact);
        bus.publish(AgentEvent.artifactUpdate({ artifact, append, lastChunk, ...rest }));
      }
    }
  }

  #statusOf(state: TaskState | 'TASK_STATE_SUBMITTED', message?: TaskStatus['message']): TaskStatus {
    const timestamp = this.#clock().toISOString();
    return { state: this.#sdk.model.taskStateFromJSON(state), message, timestamp };
  }
}

/** The packages of A2A's own SDK, which are loaded on demand. */
export type Sdk = Awaited<ReturnType<typeof loadSdk>>;

/** @throws MeshError `config` if it is not installed */
export function loadSdk(purpose: string) {
  return withPackage('@a2a-js/sdk@1', purpose, async () => ({
    model: await import('@a2a-js/sdk'),
    client: await import('@a2a-js/sdk/client'),
    server: await import('@a2a-js/sdk/server'),
  }));
}

/** @throws MeshError `config` if one of the two is not installed */
function loadExpress(purpose: string) {
  return withPackage('@a2a-js/sdk@1 express@5', purpose, async () => ({
    express: (await import('express')).default,
    handlers: await import('@a2a-js/sdk/server/express'),
  }));
}
