import { Artifact, Message, AgentCard as SdkCard, type TaskStatus, taskStateFromJSON } from '@a2a-js/sdk';
import {
  AgentEvent,
  type AgentExecutor,
  DefaultExecutionEventBusManager,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  type RequestContext,
} from '@a2a-js/sdk/server';
import { MAX_FRAME_BYTES } from '@gaia-mesh/core/contracts/limits.ts';
import type { StackSettings } from '../../contract/stack.ts';
import { type HttpServer, listenHttp } from '../../http/http-server.ts';
import { type AgentCard, type AgentInterface, CARD_PATH, PATHS } from '../card.ts';
import { paramsSchemas, parseParams } from '../model.ts';
import type { AgentWork, TaskState, WorkEvent } from '../work.ts';

/** Maximum bytes of a body in express; the SDK does not pass on an option for it. */
const EXPRESS_LIMIT_BYTES = 100 * 1024;

/** An agent of the SDK, without a transport. */
interface SdkAgent {
  readonly handler: DefaultRequestHandler;
  /** Sets the interfaces of the card, which is served in this form from then on. */
  setInterfaces(interfaces: readonly AgentInterface[]): void;
  /** Aborts all work. */
  close(): void;
}

export function createSdkAgent(card: AgentCard, work: AgentWork, clock = () => new Date()): SdkAgent {
  const executor = new WorkExecutor(work, clock);
  const sdkCard = SdkCard.fromJSON(card);
  const handler = new DefaultRequestHandler(
    sdkCard,
    new InMemoryTaskStore(),
    executor,
    new DefaultExecutionEventBusManager(),
    undefined,
    undefined,
    undefined,
    undefined,
    { validateInputModes: true },
  );
  return {
    handler,
    setInterfaces(interfaces) {
      sdkCard.supportedInterfaces = interfaces.map((each) => ({ ...each, tenant: '' }));
    },
    close: () => executor.close(),
  };
}

/** Serves the card, JSON-RPC and REST of an agent by the SDK's handlers for express, on one port. */
export async function serveSdkHttp(
  { handler: requestHandler }: SdkAgent,
  settings: StackSettings,
): Promise<HttpServer> {
  // Only a server over HTTP needs them.
  const { default: express } = await import('express');
  const handlers = await import('@a2a-js/sdk/server/express');
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
  readonly #work: AgentWork;
  readonly #clock: () => Date;
  readonly #running = new Map<string, { readonly abort: AbortController; readonly contextId: string }>();

  constructor(work: AgentWork, clock: () => Date) {
    this.#work = work;
    this.#clock = clock;
  }

  async execute(request: RequestContext, bus: ExecutionEventBus): Promise<void> {
    const { taskId, contextId, userMessage, task, context } = request;
    const abort = new AbortController();
    this.#running.set(taskId, { abort, contextId });
    for (const extension of userMessage.extensions) context.addActivatedExtension(extension);
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
      const params = { message: Message.toJSON(userMessage) };
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
    bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status, metadata: undefined }));
    bus.finished();
  }

  close(): void {
    for (const { abort } of this.#running.values()) abort.abort();
  }

  #publish(bus: ExecutionEventBus, event: WorkEvent, taskId: string, contextId: string): void {
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
    return { state: taskStateFromJSON(state), message, timestamp };
  }
}
