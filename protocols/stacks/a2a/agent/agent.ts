import { randomUUID } from 'node:crypto';
import type { KeptBytes } from '@gaia-mesh/core/system/kept-bytes.ts';
import type { UrlPolicy } from '@gaia-mesh/core/system/outgoing-url.ts';
import { estimateBytes } from '@gaia-mesh/core/system/parse-json.ts';
import { createFaultError } from '../../json-rpc.ts';
import type { AgentCard } from '../card.ts';
import type { EventQueue } from '../event-queue.ts';
import {
  type A2aMessage,
  isSettled,
  paramsSchemas,
  parseParams,
  type StreamResponse,
  TERMINAL_STATES,
} from '../model.ts';
import type { AgentWork } from '../work.ts';
import { AgentTask, TaskStore } from './task.ts';
import { Webhooks } from './webhooks.ts';

interface ClosingAnswer {
  once(event: 'close', listener: () => void): unknown;
}

/** Limits of an agent that untrusted clients may call. */
interface AgentLimits {
  /** Maximum number of tasks that are kept, including finished ones. */
  readonly maxTasks?: number;
  /** Maximum bytes of one request. */
  readonly maxBodyBytes?: number;
  /** Budget of bytes for tasks, requests and answers; without it only counts are bounded. */
  readonly kept?: KeptBytes;
  /** Policy for webhooks, applied when a client names one, and again to the URL of each call. */
  readonly mayPush?: UrlPolicy;
}

/**
 * An agent of A2A 1.0 without a transport: the operations of §3.1. A server turns its requests into {@link call}
 * and {@link stream}, and errors into codes by `toFault`.
 */
export class A2aAgent {
  readonly card: AgentCard;
  readonly #work: AgentWork;
  readonly maxBodyBytes: number | undefined;
  readonly kept: KeptBytes | undefined;
  readonly #tasks: TaskStore;
  readonly #webhooks: Webhooks;

  constructor(card: AgentCard, work: AgentWork, limits: AgentLimits = {}) {
    this.card = card;
    this.maxBodyBytes = limits.maxBodyBytes;
    this.#work = work;
    this.kept = limits.kept;
    this.#tasks = new TaskStore(limits.maxTasks, limits.kept);
    this.#webhooks = new Webhooks(card.capabilities.pushNotifications, limits);
  }

  /** Answers a request that has one answer. `method` is the operation's name as JSON-RPC writes it. */
  async call(method: string, params: unknown): Promise<object> {
    switch (method) {
      case 'SendMessage':
        return this.#sendMessage(params);
      case 'GetTask': {
        const { id, historyLength } = parseParams(paramsSchemas.get, params);
        return this.#tasks.get(id).view({ historyLength });
      }
      case 'ListTasks':
        return this.#tasks.list(parseParams(paramsSchemas.list, params));
      case 'CancelTask': {
        const task = this.#tasks.get(parseParams(paramsSchemas.task, params).id);
        task.cancel();
        return task.view({});
      }
      case 'CreateTaskPushNotificationConfig': {
        const config = parseParams(paramsSchemas.pushConfig, params);
        return this.#webhooks.add(this.#tasks.get(config.taskId), config);
      }
      case 'GetTaskPushNotificationConfig': {
        const { taskId, id } = parseParams(paramsSchemas.pushConfigId, params);
        return this.#webhooks.get(this.#tasks.get(taskId), id);
      }
      case 'ListTaskPushNotificationConfigs':
        return this.#webhooks.list(this.#tasks.get(parseParams(paramsSchemas.pushConfigs, params).taskId));
      case 'DeleteTaskPushNotificationConfig': {
        const { taskId, id } = parseParams(paramsSchemas.pushConfigId, params);
        return this.#webhooks.remove(this.#tasks.get(taskId), id);
      }
      case 'GetExtendedAgentCard':
        throw createFaultError('unsupportedOperation', 'this agent has no extended card');
      default:
        throw createFaultError('methodNotFound', `no operation ${JSON.stringify(method.slice(0, 64))}`);
    }
  }

  /**
   * Answers a request that has many answers; an error before the first is thrown by this call, not by the
   * iteration.
   *
   * @param answer response of the transport; when its client disconnects, the answers end and the work continues
   */
  stream(method: string, params: unknown, answer: ClosingAnswer): AsyncIterable<StreamResponse> {
    if (!this.card.capabilities.streaming)
      throw createFaultError('unsupportedOperation', 'this agent does not stream');
    if (method === 'SendStreamingMessage') {
      const { task, events } = this.#begin(params);
      answer.once('close', () => task.unsubscribe(events));
      return streamUntilSettled(events);
    }
    const task = this.#tasks.get(parseParams(paramsSchemas.task, params).id);
    if (TERMINAL_STATES.has(task.state))
      throw createFaultError('unsupportedOperation', `task ${task.id} is over: ${task.state}`);
    const events = task.subscribe();
    answer.once('close', () => task.unsubscribe(events));
    return followTask({ task: task.view({}) }, events);
  }

  /** Ends all tasks, and closes the connections to webhooks. */
  close(): void {
    this.#tasks.close();
    this.#webhooks.close();
  }

  async #sendMessage(params: unknown): Promise<object> {
    const { task, events, configuration } = this.#begin(params);
    for await (const event of events) {
      if ('message' in event) return event;
      if (!('task' in event)) continue;
      // The task keeps what happens meanwhile, so that nothing reads the events.
      task.unsubscribe(events);
      if (configuration?.returnImmediately !== true) await task.settled();
      return { task: task.view({ historyLength: configuration?.historyLength }) };
    }
    throw createFaultError('internal', 'the agent ended without a task or a message');
  }

  /** Starts the work on a message. Its events begin with the task or are one message. */
  #begin(params: unknown) {
    const { message, configuration } = parseParams(paramsSchemas.send, params);
    this.#checkMediaTypes(message);
    this.#checkSize(params);
    const known = message.taskId === undefined ? undefined : this.#tasks.get(message.taskId);
    if (known !== undefined) known.checkFollowUp(message);
    const task =
      known ??
      new AgentTask(
        randomUUID(),
        message.contextId ?? randomUUID(),
        (own) => this.#tasks.add(own),
        this.kept?.hold(),
      );
    try {
      task.hold(params);
      const webhook = configuration?.taskPushNotificationConfig;
      if (webhook !== undefined) this.#webhooks.add(task, { ...webhook, taskId: task.id });
      const events = task.subscribe();
      task.run(message, this.#work);
      return { task, events, configuration };
    } catch (error) {
      if (known === undefined) task.release();
      throw error;
    }
  }

  /** @throws MeshError with the fault `tooLarge` for a message that would fill the budget of all clients */
  #checkSize(params: unknown): void {
    if (this.kept === undefined) return;
    const most = this.kept.mostEach;
    const bytes = estimateBytes(params);
    if (bytes > most)
      throw createFaultError(
        'tooLarge',
        `a message: expected at most ${most} bytes of memory, received one that takes ${bytes}`,
      );
  }

  #checkMediaTypes({ parts }: A2aMessage): void {
    for (const { mediaType } of parts) {
      if (mediaType !== undefined && mediaType !== '' && !this.card.defaultInputModes.includes(mediaType))
        throw createFaultError(
          'contentTypeNotSupported',
          `expected ${this.card.defaultInputModes.join(' or ')}, came ${mediaType.slice(0, 64)}`,
        );
    }
  }
}

/**
 * Yields events until the task is over or waits for the client (§3.1.2), or until the one message that was
 * the answer.
 */
async function* streamUntilSettled(
  events: EventQueue<StreamResponse>,
): AsyncGenerator<StreamResponse, void, undefined> {
  try {
    for await (const event of events) {
      yield event;
      if ('message' in event || ('statusUpdate' in event && isSettled(event.statusUpdate.status.state)))
        return;
    }
  } finally {
    events.close();
  }
}

/** Yields the task's present state and then its events (§3.1.6), until the task ends. */
async function* followTask(
  first: StreamResponse,
  events: EventQueue<StreamResponse>,
): AsyncGenerator<StreamResponse, void, undefined> {
  try {
    yield first;
    for await (const event of events) {
      yield event;
      if ('statusUpdate' in event && TERMINAL_STATES.has(event.statusUpdate.status.state)) return;
    }
  } finally {
    events.close();
  }
}
