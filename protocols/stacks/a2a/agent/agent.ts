import { randomUUID } from 'node:crypto';
import type { KeptBytes } from '@gaia-mesh/core/system/kept-bytes.ts';
import { parseForeignUrl, type UrlPolicy } from '@gaia-mesh/core/system/outgoing-url.ts';
import { estimateBytes } from '@gaia-mesh/core/system/parse-json.ts';
import type { EventQueue } from '../event-queue.ts';
import {
  type A2aMessage,
  isSettled,
  type PushConfig,
  paramsSchemas,
  parseParams,
  TERMINAL_STATES,
} from '../model.ts';
import type { AgentWork } from '../work.ts';
import { createFaultError } from './faults.ts';
import { AgentTask, type TaskEvent, TaskStore } from './task.ts';

/** `AgentCard` (§4.4.1), without the addresses, which only a server knows. */
export interface AgentCard {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly capabilities: {
    readonly streaming: boolean;
    readonly pushNotifications: boolean;
    readonly extensions?: readonly object[];
  };
  /** Proofs that a request must contain (§4.5), by the names that requirements use for them. */
  readonly securitySchemes?: Readonly<Record<string, object>>;
  readonly securityRequirements?: readonly object[];
  readonly defaultInputModes: readonly string[];
  readonly defaultOutputModes: readonly string[];
  readonly skills: readonly object[];
}

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
  readonly #push: PushConfigs;

  constructor(card: AgentCard, work: AgentWork, sender: PushSender, limits: AgentLimits = {}) {
    this.card = card;
    this.maxBodyBytes = limits.maxBodyBytes;
    this.#work = work;
    this.kept = limits.kept;
    this.#tasks = new TaskStore(limits.maxTasks, limits.kept);
    this.#push = new PushConfigs(card.capabilities.pushNotifications, sender, limits);
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
        return this.#push.add(this.#tasks.get(config.taskId), config);
      }
      case 'GetTaskPushNotificationConfig': {
        const { taskId, id } = parseParams(paramsSchemas.pushConfigId, params);
        return this.#push.get(this.#tasks.get(taskId), id);
      }
      case 'ListTaskPushNotificationConfigs':
        return this.#push.list(this.#tasks.get(parseParams(paramsSchemas.pushConfigs, params).taskId));
      case 'DeleteTaskPushNotificationConfig': {
        const { taskId, id } = parseParams(paramsSchemas.pushConfigId, params);
        return this.#push.remove(this.#tasks.get(taskId), id);
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
  stream(method: string, params: unknown, answer: ClosingAnswer): AsyncIterable<TaskEvent> {
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

  close(): void {
    this.#tasks.close();
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
      this.#configurePush(task, configuration?.taskPushNotificationConfig);
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

  #configurePush(task: AgentTask, config: PushConfig | undefined): void {
    if (config !== undefined) this.#push.add(task, { ...config, taskId: task.id });
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
  events: EventQueue<TaskEvent>,
): AsyncGenerator<TaskEvent, void, undefined> {
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
  first: TaskEvent,
  events: EventQueue<TaskEvent>,
): AsyncGenerator<TaskEvent, void, undefined> {
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

/** Delivers an event to a webhook. */
export type PushSender = (config: PushConfig, event: TaskEvent) => Promise<void>;

/** Maximum number of a task's webhooks. A client has one; a few may watch. */
const MAX_CONFIGS_OF_TASK = 16;

/** Webhooks that clients registered (§3.1.7 to §3.1.10). They end with the task. */
class PushConfigs {
  readonly #isSupported: boolean;
  readonly #send: PushSender;
  readonly #mayPush: UrlPolicy;
  readonly #kept: KeptBytes | undefined;
  readonly #configs = new WeakMap<AgentTask, Map<string, PushConfig>>();

  constructor(
    isSupported: boolean,
    send: PushSender,
    { mayPush = () => true, kept }: { readonly mayPush?: UrlPolicy; readonly kept?: KeptBytes },
  ) {
    this.#isSupported = isSupported;
    this.#send = send;
    this.#mayPush = mayPush;
    this.#kept = kept;
  }

  add(task: AgentTask, config: PushConfig): PushConfig {
    const configs = this.#of(task);
    const url = parseForeignUrl(config.url);
    if (url === undefined || !this.#mayPush(url))
      throw createFaultError('invalidParams', `this agent does not call ${url?.host ?? 'such a URL'}`);
    const id = config.id === undefined || config.id === '' ? randomUUID() : config.id;
    const own = { ...config, id };
    if (!configs.has(id) && configs.size === MAX_CONFIGS_OF_TASK)
      throw createFaultError('invalidParams', `task ${task.id} has ${MAX_CONFIGS_OF_TASK} webhooks already`);
    task.hold(own);
    configs.set(id, own);
    return withoutSecrets(own);
  }

  /** @throws MeshError with the fault `taskNotFound`, which A2A has for every missing object */
  get(task: AgentTask, id: string): PushConfig {
    const config = this.#of(task).get(id);
    if (config === undefined)
      throw createFaultError('taskNotFound', `task ${task.id} has no webhook ${id.slice(0, 64)}`);
    return withoutSecrets(config);
  }

  list(task: AgentTask): object {
    return { configs: [...this.#of(task).values()].map(withoutSecrets), nextPageToken: '' };
  }

  remove(task: AgentTask, id: string): object {
    this.#of(task).delete(id);
    return {};
  }

  #of(task: AgentTask): Map<string, PushConfig> {
    if (!this.#isSupported) throw createFaultError('pushNotSupported', 'this agent calls no webhooks');
    const known = this.#configs.get(task);
    if (known !== undefined) return known;
    const configs = new Map<string, PushConfig>();
    this.#configs.set(task, configs);
    this.#follow(task, configs);
    return configs;
  }

  /**
   * Sends events to webhooks one after the other. A failed delivery is not tried again: A2A attempts it once
   * (§4.3.3). Events for which there is no room while the webhooks are slow are left out.
   */
  #follow(task: AgentTask, configs: ReadonlyMap<string, PushConfig>): void {
    let sent = Promise.resolve();
    const observe = (event: TaskEvent) => {
      const to = [...configs.values()];
      // Each delivery has its own text of the event.
      const bytes = this.#kept === undefined ? 0 : estimateBytes(event) * (1 + to.length);
      if (to.length > 0 && this.#kept?.take(bytes) !== false)
        sent = sent.then(async () => {
          await Promise.allSettled(to.map((config) => this.#send(config, event)));
          this.#kept?.give(bytes);
        });
      if ('statusUpdate' in event && TERMINAL_STATES.has(event.statusUpdate.status.state))
        task.observers.delete(observe);
    };
    task.observers.add(observe);
  }
}

/** Returns what clients may see of a webhook: they share the list, and its secrets are of the client that named it. */
function withoutSecrets({ id, taskId, url, authentication }: PushConfig): PushConfig {
  return { id, taskId, url, authentication: authentication && { scheme: authentication.scheme } };
}
